import { execFile } from 'node:child_process';

/** The output of a small command of macOS, without space around it. Rejects when it fails, or does not end in time. */
export type RunCommand = (command: string, args: readonly string[], signal: AbortSignal) => Promise<string>;

/** Those commands take milliseconds. */
const deadlineMs = 10_000;
const maxOutputBytes = 4 * 1024 * 1024;

export const runCommand: RunCommand = (command, args, signal) =>
  new Promise((resolve, reject) => {
    const options = { signal, timeout: deadlineMs, killSignal: 'SIGKILL', maxBuffer: maxOutputBytes } as const;
    const child = execFile(command, [...args], options, (error, stdout) => {
      if (error) reject(error);
      else resolve(stdout.trim());
    });
    child.stdin?.end();
  });
