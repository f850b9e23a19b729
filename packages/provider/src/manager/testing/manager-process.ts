import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../../main.ts', import.meta.url));

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface ManagerProcess {
  readonly process: ChildProcess;
  /** The first matching line of its log, past or future. Rejects when the process ends without one. */
  logged(matches: (line: string) => boolean): Promise<string>;
  readonly ended: Promise<Ended>;
}

/** Node's compile cache, if set: a short process spends most of its time compiling. */
const compiled = Object.entries(process.env).filter(([name]) => name === 'NODE_COMPILE_CACHE');

/** `main.ts` in its own process, with only these arguments and variables. Killed when the test ends. */
export const startManager = (
  t: TestContext,
  argv: readonly string[],
  env: Readonly<Record<string, string>> = {},
): ManagerProcess => {
  const child = spawn(process.execPath, [main, ...argv], {
    env: { ...Object.fromEntries(compiled), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  const waiting = new Set<() => void>();
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
    for (const look of waiting) look();
  });
  const ended = once(child, 'close').then(([code]: unknown[]): Ended => {
    for (const look of waiting) look();
    return { code: typeof code === 'number' ? code : null, stdout, stderr };
  });
  t.after(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    await ended;
  });
  const logged: ManagerProcess['logged'] = (matches) =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const found = stderr.split('\n').find((line) => line !== '' && matches(line));
        if (found !== undefined) {
          waiting.delete(look);
          resolve(found);
        }
      };
      waiting.add(look);
      look();
      void ended.then(({ code }) => reject(new Error(`it ended with ${code}:\n${stderr}`)));
    });
  return { process: child, logged, ended };
};
