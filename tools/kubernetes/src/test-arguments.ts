import { type BinaryName, binaryNames } from './build/recipes.ts';

const allTests = 'test/kubernetes/**/*.test.ts';
/** `npm run test:upgrade`. These tests start control planes of their own. */
const upgrade = { flag: '--upgrade', files: 'test/upgrade/**/*.test.ts' } as const;
const upgradeBinaries: readonly BinaryName[] = [
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'kubectl',
  'cluster-api-core',
  'helm',
];

/** These tests wait more than they compute: three files at a time, also on two cores, where Node's own choice is one. */
const concurrency = '--test-concurrency=3';

const isOption = (argument: string): boolean => argument.startsWith('-');

const selectsAll = (given: readonly string[]): boolean => given.every(isOption);

/** Whether the test files use a cluster that is started for all of them. */
export const sharesCluster = (given: readonly string[]): boolean => !given.includes(upgrade.flag);

/** The binaries to build before a run of all test files. Tests have deadlines, and builds take minutes. */
export const binariesFor = (given: readonly string[]): readonly BinaryName[] => {
  if (!selectsAll(given)) return [];
  return sharesCluster(given) ? binaryNames : upgradeBinaries;
};

/** The arguments of `node`: options for the test runner, and the test files. */
export const testArguments = (given: readonly string[]): string[] => {
  const files = given.filter((argument) => !isOption(argument));
  const options = given.filter((argument) => isOption(argument) && argument !== upgrade.flag);
  const all = sharesCluster(given) ? allTests : upgrade.files;
  return ['--test', concurrency, ...options, ...(selectsAll(given) ? [all] : files)];
};
