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
 * Guarantees: once this resolves, the command and whatever it started in its process group are gone or about to be: past the
 * deadline, and after too much output, the group is killed.
 * Caveats: what it writes to its standard error is dropped, as nobody knows which secrets are in it.
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
      // Detached is a group of its own: a script's children would otherwise survive it and hold its output open.
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
      // Some failures are thrown, such as a NUL in an argument.
      finish({ kind: 'notStarted', code: spawnErrorCode(error) });
    }
  });

const killGroup = (pid: number): void => {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // Gone already.
  }
};

const spawnErrorCode = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unknown error';
