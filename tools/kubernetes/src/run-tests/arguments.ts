import { readKubeconfig } from '../control-plane/kubeconfig.ts';

const everything = 'test/kubernetes/**/*.test.ts';

/** What `node` is called with: options go to the test runner, everything else names test files. */
export const testArguments = (given: readonly string[]): string[] => {
  const options = given.filter((argument) => argument.startsWith('-'));
  const files = given.filter((argument) => !argument.startsWith('-'));
  return ['--test', ...options, ...(files.length > 0 ? files : [everything])];
};

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
