import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { open, readFile } from 'node:fs/promises';

export interface RunningManager {
  /** Peak resident memory so far, in MB. */
  peak(): number;
  /** Rejects when the manager ends unexpectedly. */
  readonly broken: Promise<never>;
  stop(): Promise<void>;
  kill(): Promise<void>;
}

/** Runs the manager in its own process, with only these arguments and variables. Its log goes to a file. */
export const startManager = async (
  program: string,
  argv: readonly string[],
  env: Readonly<Record<string, string>>,
  log: string,
): Promise<RunningManager> => {
  const file = await open(log, 'w');
  const child = spawn(process.execPath, [program, ...argv], { env: { ...env }, stdio: ['ignore', 'ignore', file.fd] });
  await file.close();
  let asked = false;
  const ended = once(child, 'close') as Promise<[number | null, string | null]>;
  const broken = ended.then(async ([code, signal]): Promise<never> => {
    if (asked) return new Promise<never>(() => {});
    const said = await readFile(log, 'utf8');
    throw new Error(`the manager ended with ${code ?? signal}:\n${said.split('\n').slice(-20).join('\n')}`);
  });
  broken.catch(() => {});
  const end = async (signal: 'SIGTERM' | 'SIGKILL'): Promise<void> => {
    asked = true;
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    await ended;
  };
  return {
    peak: () => {
      const kilobytes = /^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1];
      return (Number(kilobytes) * 1024) / 1e6;
    },
    broken,
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
  };
};
