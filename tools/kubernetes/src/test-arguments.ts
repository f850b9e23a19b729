import { type BinaryName, binaryNames } from './build/recipes.ts';

interface Suite {
  readonly files: string;
  /** Built before a run of all its files: tests have deadlines, and builds take minutes. */
  readonly binaries: readonly BinaryName[];
}

const controlPlane: readonly BinaryName[] = ['etcd', 'kube-apiserver', 'kube-controller-manager'];

/** By the flag that selects them. Their tests start their own control planes. */
const otherSuites = new Map<string, Suite>([
  [
    '--upgrade',
    {
      files: 'test/upgrade/**/*.test.ts',
      binaries: [...controlPlane, 'kube-scheduler', 'kubectl', 'cluster-api-core', 'helm'],
    },
  ],
  ['--judges', { files: 'test/judges/**/*.test.ts', binaries: [...controlPlane, 'cluster-api-core-1.10'] }],
]);

const mainSuite: Suite = {
  files: 'test/kubernetes/**/*.test.ts',
  binaries: binaryNames.filter((name) => name !== 'cluster-api-core-1.10'),
};

/** These tests wait more than they compute: three files at a time, even on two cores, where Node's default is one. */
const concurrency = '--test-concurrency=3';

/** Twenty minutes for each test and hook: only a hanging one reaches them, also on a busy machine. */
const timeout = '--test-timeout=1200000';

const isOption = (argument: string): boolean => argument.startsWith('-');

const selectsAll = (given: readonly string[]): boolean => given.every(isOption);

const suiteOf = (given: readonly string[]): Suite =>
  given.map((argument) => otherSuites.get(argument)).find((suite) => suite !== undefined) ?? mainSuite;

/** Whether the test files use a cluster that is started for all of them. */
export const sharesCluster = (given: readonly string[]): boolean => suiteOf(given) === mainSuite;

/** The binaries to build before the tests run. */
export const binariesFor = (given: readonly string[]): readonly BinaryName[] =>
  selectsAll(given) ? suiteOf(given).binaries : [];

/** The arguments of `node`: options for the test runner, and the test files. */
export const testArguments = (given: readonly string[]): string[] => {
  const files = given.filter((argument) => !isOption(argument));
  const options = given.filter((argument) => isOption(argument) && !otherSuites.has(argument));
  return ['--test', concurrency, timeout, ...options, ...(selectsAll(given) ? [suiteOf(given).files] : files)];
};
