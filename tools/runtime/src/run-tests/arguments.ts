/** The tests of `npm test`: all tests beside their code, except slow ones: whole Macs, and processes that are killed repeatedly. */
const unitPatterns: readonly string[] = ['{packages,sim,tools,bench}/**/!(*.slow).test.ts'];

/** The tests of `npm run test:fleet`. */
const fleetPatterns: readonly string[] = [
  'test/{system,regressions,faults,drills,crash,crash-agent}/**/*.test.ts',
  '{packages,sim,tools}/**/*.slow.test.ts',
];

const fleetOption = '--fleet';
const slowestOption = '--slowest';
const shuffleOption = '--shuffle=';

export interface TestArguments {
  /** Globs. Each must match something. */
  readonly patterns: readonly string[];
  /** For the Node that runs the tests, such as `--test-name-pattern=…`. */
  readonly options: readonly string[];
  /** Prints the slowest files at the end. */
  readonly slowest: boolean;
  /** Seed of the order of files; undefined: in the order of their paths. */
  readonly shuffle: number | undefined;
}

/** Options go to the processes that run the tests; everything else names test files. */
export const parseTestArguments = (given: readonly string[]): TestArguments => {
  const named = given.filter((argument) => !argument.startsWith('-'));
  const tier = given.includes(fleetOption) ? fleetPatterns : unitPatterns;
  const shuffle = given.find((argument) => argument.startsWith(shuffleOption))?.slice(shuffleOption.length);
  const isOwn = (argument: string): boolean =>
    [fleetOption, slowestOption].includes(argument) || argument.startsWith(shuffleOption);
  return {
    patterns: named.length > 0 ? named : tier,
    options: given.filter((argument) => argument.startsWith('-') && !isOwn(argument)),
    slowest: given.includes(slowestOption),
    shuffle: shuffle === undefined ? undefined : Number(shuffle),
  };
};
