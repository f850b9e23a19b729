import type { ProcessContext } from '@tartan/kube';

/** Runs the program of a hook in this process. Returns its exit code and output. */
export const runCaptured = async (
  run: (argv: readonly string[], surroundings: ProcessContext) => Promise<number>,
  argv: readonly string[],
  env: NodeJS.ProcessEnv = {},
) => {
  const captured = { out: '', err: '' };
  const code = await run(argv, {
    env,
    stdout: (text) => (captured.out += text),
    stderr: (text) => (captured.err += text),
    signal: new AbortController().signal,
  });
  return { code, ...captured };
};
