import { execFile } from 'node:child_process';

const maxOutputBytes = 16 * 1024 * 1024;

/** The output and exit code of a command. Rejects when it could not be started, or did not end in time. */
export const runToEnd = (
  command: string,
  args: readonly string[],
  signal: AbortSignal,
  timeout: number,
): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> =>
  new Promise((resolve, reject) => {
    const options = { signal, timeout, killSignal: 'SIGKILL', maxBuffer: maxOutputBytes } as const;
    const child = execFile(command, args, options, (error, stdout, stderr) => {
      const code = error === null ? 0 : error.code;
      if (typeof code === 'number') resolve({ code, stdout, stderr });
      else reject(error);
    });
    child.stdin?.end();
  });

/** The trimmed output of a short macOS command. Rejects when it fails, or does not end in time. */
export type RunCommand = (command: string, args: readonly string[], signal: AbortSignal) => Promise<string>;

/** These commands take milliseconds. */
const deadlineMs = 10_000;

export const runCommand: RunCommand = async (command, args, signal) => {
  const { code, stdout, stderr } = await runToEnd(command, args, signal, deadlineMs);
  if (code === 0) return stdout.trim();
  throw Object.assign(new Error(`${command} failed:\n${stderr}`), { code });
};
