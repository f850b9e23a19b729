import type { Surroundings } from '@tartan/kube';

/** Runs a program of a hook in this process: its exit code, and what it said. */
export const heardFrom = async (
  run: (argv: readonly string[], surroundings: Surroundings) => Promise<number>,
  argv: readonly string[],
  env: NodeJS.ProcessEnv = {},
) => {
  const heard = { out: '', err: '' };
  const code = await run(argv, {
    env,
    say: (text) => (heard.out += text),
    complain: (text) => (heard.err += text),
    signal: new AbortController().signal,
  });
  return { code, ...heard };
};
