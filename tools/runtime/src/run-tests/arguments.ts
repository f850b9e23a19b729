/** What `npm test` runs: each part, with what is beside it, but for what takes long: whole Macs, and processes that are killed again and again. */
const everything: readonly string[] = ['{packages,sim,tools,bench}/**/!(*.slow).test.ts'];

export interface Wish {
  /** Globs, each of which has to find something when a person gave it. */
  readonly patterns: readonly string[];
  readonly isEverything: boolean;
  /** For the Node that runs the tests, such as `--test-name-pattern=…`. */
  readonly options: readonly string[];
  /** Ends with the files that took longest. */
  readonly slowest: boolean;
}

/** Options go to the processes that run the tests, everything else names test files. */
export const wishOf = (given: readonly string[]): Wish => {
  const patterns = given.filter((argument) => !argument.startsWith('-'));
  const isEverything = patterns.length === 0;
  return {
    patterns: isEverything ? everything : patterns,
    isEverything,
    options: given.filter((argument) => argument.startsWith('-') && argument !== '--slowest'),
    slowest: given.includes('--slowest'),
  };
};
