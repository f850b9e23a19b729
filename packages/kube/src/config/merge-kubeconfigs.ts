import type { Kubeconfig } from './kubeconfig.ts';

/**
 * Several files as one, by the rules of kubectl: the first that says something wins, entry by entry. Two entries of the same
 * name are never mixed, not even where they do not contradict each other.
 */
export const mergeKubeconfigs = (files: readonly Kubeconfig[]): Kubeconfig => ({
  file: files.map(({ file }) => file).join(', '),
  currentContext: files.find(({ currentContext }) => currentContext !== undefined)?.currentContext,
  clusters: firstOfEach(files.map(({ clusters }) => clusters)),
  users: firstOfEach(files.map(({ users }) => users)),
  contexts: firstOfEach(files.map(({ contexts }) => contexts)),
});

const firstOfEach = <T>(maps: readonly ReadonlyMap<string, T>[]): Map<string, T> =>
  new Map([...maps].reverse().flatMap((map) => [...map]));
