import { spawn } from 'node:child_process';

export interface Ran {
  readonly code: number;
  /** What it said, on either stream, as a person at a terminal sees it. */
  readonly output: string;
  readonly stdout: string;
}

/** Runs a program to its end, whatever that is. */
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
