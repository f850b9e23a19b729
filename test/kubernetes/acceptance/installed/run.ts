import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Harness } from './harness.ts';

export interface Ran {
  readonly code: number;
  /** stdout and stderr together, as at a terminal. */
  readonly output: string;
  readonly stdout: string;
}

/** Runs a program to its end, whatever its exit code. */
export const run = (
  program: string,
  args: readonly string[],
  options: { readonly env: NodeJS.ProcessEnv; readonly input?: string },
): Promise<Ran> =>
  new Promise((resolve, reject) => {
    const child = spawn(program, args, { env: options.env, stdio: ['pipe', 'pipe', 'pipe'] });
    let [output, stdout] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    child.once('error', reject);
    child.once('close', (code) => resolve({ code: code ?? 1, output, stdout }));
    child.stdin.end(options.input);
  });

export { isReady, runsAgent } from '../../../system/nodes.ts';

/** Shows all logs when a command has failed. */
export const succeeded = (harness: Harness, ran: Ran): void => {
  if (ran.code !== 0) assert.fail(`it ended with ${ran.code}:\n${ran.output}\n${harness.systemLogs()}`);
};

/** The last characters of each file, below its name. */
export const logTails = (files: readonly string[], characters: number): string =>
  files.map((name) => `== ${name}\n${readFileSync(name, 'utf8').slice(-characters)}`).join('\n');
