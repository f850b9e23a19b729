interface RepeatArguments {
  readonly times: number;
  readonly load: boolean;
  /** Arguments of `npm run` for one run. */
  scriptFor(run: number): readonly string[];
}

const tiers = ['fleet', 'kubernetes', 'upgrade'];

/** Undefined: wrong arguments. */
export const parseRepeatArguments = (given: readonly string[]): RepeatArguments | undefined => {
  const [times = '', ...rest] = given.filter((argument) => argument !== '--load');
  if (!/^[1-9]\d*$/.test(times) || rest.some((argument) => argument.startsWith('-'))) return undefined;
  const [first = ''] = rest;
  const isTier = tiers.includes(first);
  if (isTier && rest.length > 1) return undefined;
  return {
    times: Number(times),
    load: given.includes('--load'),
    scriptFor: (run) => {
      // The real tier runs its files in a fixed order: they share one control plane.
      if (isTier && first !== 'fleet') return [`test:${first}`];
      return [isTier ? `test:${first}` : 'test', '--', `--shuffle=${run}`, ...(isTier ? [] : rest)];
    },
  };
};

/** `FILE: name` of each failed test, from the end of the output of Node's test runner. */
export const failuresIn = (output: string): readonly string[] =>
  [...output.matchAll(/^test at (\S+?):\d+:\d+\n\s*✖ (.+?)(?: \([\d.]+ms\))?$/gm)].map(
    ([, file, name]) => `${file}: ${name}`,
  );

export const formatFailures = (failures: ReadonlyMap<string, number>, failedRuns: number, times: number): string => {
  const rows = [...failures].toSorted(([, one], [, other]) => other - one);
  return `\n${failedRuns} of ${times} runs failed\n${rows.map(([name, count]) => `${String(count).padStart(5)}  ${name}\n`).join('')}`;
};
