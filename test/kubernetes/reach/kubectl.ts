import { type ChildProcessWithoutNullStreams, execFile, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface KubectlOptions {
  /** The program. */
  readonly command: string;
  readonly kubeconfig: string;
  readonly namespace: string;
  readonly home: string;
  readonly env: Readonly<Record<string, string>>;
}

/** The real kubectl. */
export interface Kubectl {
  /** To its end. */
  run(args: readonly string[], input?: string): Promise<{ code: number; stdout: string; stderr: string }>;
  start(args: readonly string[]): ChildProcessWithoutNullStreams;
  /** In its own terminal of that size. */
  startInTerminal(size: { rows: number; columns: number }, args: readonly string[]): ChildProcessWithoutNullStreams;
  /** Ends running commands. */
  close(): void;
}

const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;

export const createKubectl = ({ command, kubeconfig, namespace, home, env }: KubectlOptions): Kubectl => {
  const full = (args: readonly string[]): string[] => [
    `--kubeconfig=${kubeconfig}`,
    `--namespace=${namespace}`,
    ...args,
  ];
  const options = { env: { ...process.env, HOME: home, SHELL: '/bin/sh', ...env } };
  const children = new Set<ChildProcessWithoutNullStreams>();
  const started = (child: ChildProcessWithoutNullStreams): ChildProcessWithoutNullStreams => {
    children.add(child);
    child.stdin.on('error', () => {});
    return child;
  };
  return {
    run: async (args, input) => {
      const running = run(command, full(args), { ...options, maxBuffer: 64 * 1024 * 1024 });
      running.child.stdin?.end(input);
      try {
        return { code: 0, ...(await running) };
      } catch (error) {
        const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
        return { code, stdout, stderr };
      }
    },
    start: (args) => started(spawn(command, full(args), { ...options, stdio: 'pipe' })),
    startInTerminal: ({ rows, columns }, args) => {
      const inner = `stty cols ${columns} rows ${rows}; ${[command, ...full(args)].map(quoted).join(' ')}`;
      return started(spawn('script', ['-qec', inner, '/dev/null'], { ...options, stdio: 'pipe' }));
    },
    close: () => {
      for (const child of children) child.kill('SIGKILL');
    },
  };
};

/** The text of a stream up to the first match of `pattern`. */
export const textUntil = async (stream: Readable | null, pattern: RegExp): Promise<string> => {
  let text = '';
  for await (const chunk of stream?.iterator({ destroyOnReturn: false }) ?? []) {
    text += String(chunk);
    if (pattern.test(text)) return text;
  }
  throw new Error(`${pattern.source} was not found in ${JSON.stringify(text)}`);
};
