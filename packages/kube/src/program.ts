/** What a program uses of its process. */
export interface ProcessContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What was asked for: the help, the version. */
  readonly stdout: (text: string) => void;
  /** Logs and errors. */
  readonly stderr: (text: string) => void;
  /** Fires when the process is asked to end. */
  readonly signal: AbortSignal;
}

export const exitCodes = {
  done: 0,
  /** A part failed, or leadership was lost: start again. */
  failed: 1,
  /** Wrong flags or variables: starting again will not help. */
  usage: 2,
} as const;

/** Runs a program with the arguments and streams of this process. The first signal asks for an orderly end; a second one kills. */
export const runAsProcess = async (
  run: (argv: readonly string[], context: ProcessContext) => Promise<number>,
): Promise<void> => {
  const stopping = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stopping.abort());
  const { argv, env, stdout, stderr } = process;
  process.exitCode = await run(argv.slice(2), {
    env,
    stdout: (text) => stdout.write(text),
    stderr: (text) => stderr.write(text),
    signal: stopping.signal,
  });
  // Abandoned work may still hold a socket. It must not keep alive a process that no longer leads.
  setTimeout(() => process.exit(), 500).unref();
};
