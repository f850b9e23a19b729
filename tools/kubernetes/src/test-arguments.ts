import { type BinaryName, binaryNames } from './build/recipes.ts';
import { readKubeconfig } from './control-plane/kubeconfig.ts';

const allTests = 'test/kubernetes/**/*.test.ts';
/** `npm run test:upgrade`. These start control planes of their own. */
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

const isOption = (argument: string): boolean => argument.startsWith('-');

/** Whether all test files are meant. */
const selectsAll = (given: readonly string[]): boolean => given.every(isOption);

/** Whether the test files use a cluster that is started for all of them. */
export const sharesCluster = (given: readonly string[]): boolean => !given.includes(upgrade.flag);

/** What must be built before a run of all test files. Tests have deadlines, and builds take minutes: none of them may come to need one. */
export const binariesFor = (given: readonly string[]): readonly BinaryName[] => {
  if (!selectsAll(given)) return [];
  return sharesCluster(given) ? binaryNames : upgradeBinaries;
};

/** What `node` is called with: options go to the test runner, everything else names test files. */
export const testArguments = (given: readonly string[]): string[] => {
  const files = given.filter((argument) => !isOption(argument));
  const options = given.filter((argument) => isOption(argument) && argument !== upgrade.flag);
  const all = sharesCluster(given) ? allTests : upgrade.files;
  return ['--test', ...options, ...(selectsAll(given) ? [all] : files)];
};

/**
 * What runs beside a run of all test files: those that wait for minutes and need no processor meanwhile, with control planes of their
 * own. Undefined: nothing does.
 */
export const backgroundTestArguments = (given: readonly string[]): string[] | undefined =>
  selectsAll(given) && sharesCluster(given)
    ? ['--test', ...given, 'test/kubernetes-background/**/*.test.ts']
    : undefined;

export type ClusterChoice = { existing: string; url: string } | { note?: string };

/**
 * A KUBECONFIG that leads to this machine is taken: it is a throw-away cluster. Any other may be one that people depend on, and the
 * tests create and delete Nodes, so it takes a second word.
 */
export const chooseCluster = (env: NodeJS.ProcessEnv): ClusterChoice => {
  const path = env['KUBECONFIG'];
  if (path === undefined || path === '') return {};
  const { url } = readKubeconfig(path);
  const { hostname } = new URL(url);
  const isLocal = hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.');
  if (isLocal || env['TARTAN_TEST_EXISTING_CLUSTER'] === '1') return { existing: path, url };
  return {
    note: `KUBECONFIG leads to ${url}, which is not on this machine, so the tests start a control plane of their own. To let them use that cluster set TARTAN_TEST_EXISTING_CLUSTER=1.`,
  };
};
