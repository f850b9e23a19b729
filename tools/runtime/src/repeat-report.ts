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

/** `FILE: name` of each failed test, from the end of what node's test runner prints. */
export const failuresIn = (output: string): readonly string[] => {
  // eslint-disable-next-line no-control-regex -- colours
  const lines = output.replaceAll(/\u001B\[[\d;]*m/g, '').split('\n');
  const failures: string[] = [];
  for (const [index, line] of lines.entries()) {
    const [, file] = /^test at (\S+?):\d+:\d+$/.exec(line) ?? [];
    const [, name] = /^\s*✖ (.+?)(?: \([\d.]+ms\))?$/.exec(lines[index + 1] ?? '') ?? [];
    if (file !== undefined && name !== undefined) failures.push(`${file}: ${name}`);
  }
  return failures;
};

export const formatFailures = (failures: ReadonlyMap<string, number>, failedRuns: number, times: number): string => {
  const rows = [...failures].toSorted(([, one], [, other]) => other - one);
  return `\n${failedRuns} of ${times} runs failed\n${rows.map(([name, count]) => `${String(count).padStart(5)}  ${name}\n`).join('')}`;
};
