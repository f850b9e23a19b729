import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { open, readFile } from 'node:fs/promises';

export interface MeasuredProcess {
  /** Peak resident memory so far, in MB. */
  peak(): number;
  /** CPU time so far, of all threads, in seconds. */
  cpuSeconds(): number;
  /** Rejects when the process ends unexpectedly. */
  readonly broken: Promise<never>;
  stop(): Promise<void>;
  kill(): Promise<void>;
}

interface Command {
  readonly program: string;
  readonly argv: readonly string[];
  /** No other variables. */
  readonly env: Readonly<Record<string, string>>;
  /** The file that gets its stderr. */
  readonly log: string;
  /** Called with each piece of its stdout. */
  readonly onOutput?: (text: string) => void;
}

const ticksPerSecond = 100;

/** Runs a program in its own process. */
export const startMeasured = async ({ program, argv, env, log, onOutput }: Command): Promise<MeasuredProcess> => {
  const file = await open(log, 'w');
  const child = spawn(program, argv, { env: { ...env }, stdio: ['ignore', onOutput ? 'pipe' : 'ignore', file.fd] });
  await file.close();
  child.stdout?.setEncoding('utf8').on('data', (text: string) => onOutput?.(text));
  let asked = false;
  const ended = once(child, 'close') as Promise<[number | null, string | null]>;
  const broken = ended.then(async ([code, signal]): Promise<never> => {
    if (asked) return new Promise<never>(() => {});
    const said = await readFile(log, 'utf8');
    throw new Error(`${program} ended with ${code ?? signal}:\n${said.split('\n').slice(-20).join('\n')}`);
  });
  broken.catch(() => {});
  const end = async (signal: 'SIGTERM' | 'SIGKILL'): Promise<void> => {
    asked = true;
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    await ended;
  };
  const read = (name: string): string => readFileSync(`/proc/${child.pid}/${name}`, 'utf8');
  return {
    peak: () => (Number(/^VmHWM:\s+(\d+)/m.exec(read('status'))?.[1]) * 1024) / 1e6,
    cpuSeconds: () => {
      // After the name of the program, which may contain spaces: utime and stime are the 12th and 13th field.
      const fields = read('stat')
        .replace(/^.*\) /s, '')
        .split(' ');
      return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
    },
    broken,
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
  };
};
