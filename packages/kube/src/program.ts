/** The parts of the process that a program uses. */
export interface ProcessContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Requested output: help and version. */
  readonly stdout: (text: string) => void;
  /** Logs and errors. */
  readonly stderr: (text: string) => void;
  /** Fires when the process should stop. */
  readonly signal: AbortSignal;
}

export const exitCodes = {
  done: 0,
  /** A part failed, or leadership was lost: restart. */
  failed: 1,
  /** Invalid flags or variables: a restart does not help. */
  usage: 2,
} as const;

/** Runs a program with this process' arguments and streams. The first signal stops it gracefully; a second one kills it. */
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
  // Abandoned work may still hold a socket, which must not keep a process alive that no longer leads.
  setTimeout(() => process.exit(), 500).unref();
};
