import { spawn } from 'node:child_process';
import type { Clock } from '../clock/clock.ts';

export interface Command {
  file: string;
  args: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
  deadlineMs: number;
}

export type CommandResult =
  | { kind: 'exited'; code: number; output: string }
  | { kind: 'notStarted'; code: string }
  | { kind: 'killed'; by: string }
  | { kind: 'timedOut' }
  | { kind: 'outputTooLarge' };

const maxOutputBytes = 1024 * 1024;

/**
 * Runs a command without input and without a terminal. Never rejects.
 *
 * Guarantees: resolves when the command and all children that hold its output have ended, or after it killed the process
 * group: at the deadline, and after too much output.
 * Caveats: standard error is discarded, as it may contain secrets.
 */
export const runCommand = (clock: Clock, { file, args, env, deadlineMs }: Command): Promise<CommandResult> =>
  new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let cancel = (): void => {};
    const finish = (result: CommandResult): void => {
      cancel();
      resolve(result);
    };
    try {
      // `detached` creates a process group: otherwise a script's children would survive it and keep its output open.
      const child = spawn(file, [...args], { env, stdio: ['ignore', 'pipe', 'ignore'], detached: true });
      const kill = (result: CommandResult): void => {
        if (child.pid !== undefined) killGroup(child.pid);
        child.stdout.destroy();
        finish(result);
      };
      cancel = clock.after(deadlineMs, () => kill({ kind: 'timedOut' }));
      child.stdout.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size > maxOutputBytes) kill({ kind: 'outputTooLarge' });
        else chunks.push(chunk);
      });
      child.on('error', (error) => finish({ kind: 'notStarted', code: spawnErrorCode(error) }));
      child.on('close', (code, signal) =>
        finish(
          code === null
            ? { kind: 'killed', by: signal ?? 'a signal' }
            : { kind: 'exited', code, output: Buffer.concat(chunks).toString('utf8') },
        ),
      );
    } catch (error) {
      // spawn throws some errors synchronously, such as a NUL in an argument.
      finish({ kind: 'notStarted', code: spawnErrorCode(error) });
    }
  });

const killGroup = (pid: number): void => {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The process has exited already.
  }
};

const spawnErrorCode = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unknown error';
