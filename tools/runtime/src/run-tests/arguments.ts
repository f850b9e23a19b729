/** What `npm test` runs: each part, with what is beside it, but for what takes long: whole Macs, and processes that are killed again and again. */
const defaultPatterns: readonly string[] = ['{packages,sim,tools,bench}/**/!(*.slow).test.ts'];

const shuffleOption = '--shuffle=';

export interface TestArguments {
  /** Globs, each of which has to find something when a person gave it. */
  readonly patterns: readonly string[];
  readonly isEverything: boolean;
  /** For the Node that runs the tests, such as `--test-name-pattern=…`. */
  readonly options: readonly string[];
  /** Ends with the files that took longest. */
  readonly slowest: boolean;
  /** Seed of the order of files; undefined: in the order of their paths. */
  readonly shuffle: number | undefined;
}

/** Options go to the processes that run the tests, everything else names test files. */
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
