/** The tests of `npm test`: all tests beside their code, except slow ones: whole Macs, and processes that are killed repeatedly. */
const defaultPatterns: readonly string[] = ['{packages,sim,tools,bench}/**/!(*.slow).test.ts'];

const shuffleOption = '--shuffle=';

export interface TestArguments {
  /** Globs. Each that the user gave must match something. */
  readonly patterns: readonly string[];
  readonly isEverything: boolean;
  /** For the Node that runs the tests, such as `--test-name-pattern=…`. */
  readonly options: readonly string[];
  /** Prints the slowest files at the end. */
  readonly slowest: boolean;
  /** Seed of the order of files; undefined: in the order of their paths. */
  readonly shuffle: number | undefined;
}

/** Options go to the processes that run the tests; everything else names test files. */
export const parseTestArguments = (given: readonly string[]): TestArguments => {
  const patterns = given.filter((argument) => !argument.startsWith('-'));
  const isEverything = patterns.length === 0;
  const shuffle = given.find((argument) => argument.startsWith(shuffleOption))?.slice(shuffleOption.length);
  const isOwn = (argument: string): boolean => argument === '--slowest' || argument.startsWith(shuffleOption);
  return {
    patterns: isEverything ? defaultPatterns : patterns,
    isEverything,
    options: given.filter((argument) => argument.startsWith('-') && !isOwn(argument)),
    slowest: given.includes('--slowest'),
    shuffle: shuffle === undefined ? undefined : Number(shuffle),
  };
};
