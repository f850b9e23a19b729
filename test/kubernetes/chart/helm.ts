import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { ensureBinaries } from '@tartan/tools-kubernetes';

export const chart = join(import.meta.dirname, '../../../charts/tartan');

export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end, with `input` as standard input. */
export const run = (command: string, args: readonly string[], input = '', env = process.env): Promise<CommandResult> =>
  new Promise((resolve, reject) => {
    const child = spawn(command, args, { env, stdio: 'pipe' });
    let [stdout, stderr] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    child.once('error', reject);
    child.once('close', (code) => resolve({ code: code ?? 1, stdout, stderr }));
    child.stdin.end(input);
  });

/** The real helm. Values are an object: JSON is valid YAML. */
export const helm = async (args: readonly string[], values?: object, env = process.env): Promise<CommandResult> => {
  const { helm: command } = await ensureBinaries(['helm']);
  return values === undefined
    ? await run(command, args, '', env)
    : await run(command, [...args, '--values', '-'], JSON.stringify(values), env);
};
