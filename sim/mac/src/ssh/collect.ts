import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { buffer } from 'node:stream/consumers';

export interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Gives a command its input and waits for all that it says. */
export const collect = async (child: ChildProcessWithoutNullStreams, stdin: string | Buffer): Promise<Ended> => {
  const ended = new Promise<{ code: number | null; signal: string | null }>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
  // Whoever does not read its input is free not to.
  child.stdin.on('error', () => {});
  child.stdin.end(stdin);
  const [{ code, signal }, stdout, stderr] = await Promise.all([ended, buffer(child.stdout), buffer(child.stderr)]);
  return { code, signal, stdout: stdout.toString(), stderr: stderr.toString() };
};
