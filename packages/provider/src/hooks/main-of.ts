import type { Surroundings } from '@tartan/kube';

/** A hook as a process: its arguments, its streams, and an end when it is asked for one. */
export const mainOf = async (run: (argv: readonly string[], surroundings: Surroundings) => Promise<number>) => {
  const asked = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => asked.abort());
  const { argv, env, stdout, stderr } = process;
  process.exitCode = await run(argv.slice(2), {
    env,
    say: (text) => stdout.write(text),
    complain: (text) => stderr.write(text),
    signal: asked.signal,
  });
};
