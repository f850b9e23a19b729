import { serverNames } from '@tartan/api';

/**
 * The name of a server at Scaleway: the machine's name while it is held, `<pool prefix><8 hex>` in a pool, and `tuist-releasing-` plus its
 * future pool name during a release. So the name alone tells what to do with a Mac whose MacHost is lost.
 */

const suffixLength = 8;
/** The limit in the schema of MacHost: a longer one could not be stored. */
const longestPrefix = 63;

/** From a random number in [0, 1). */
export const newSuffix = (random: number): string =>
  Math.floor(random * 16 ** suffixLength)
    .toString(16)
    .padStart(suffixLength, '0')
    .slice(-suffixLength);

/** A short prefix, such as `tuist-`, also matches names of servers that are not in a pool. An empty one matches all. */
export const isPoolName = (name: string, prefix: string): boolean =>
  prefix !== '' &&
  name.startsWith(prefix) &&
  !name.startsWith(serverNames.releasingPrefix) &&
  !name.startsWith(serverNames.claimPendingPrefix);

export const releasingName = (poolName: string): string => `${serverNames.releasingPrefix}${poolName}`;

/** The pool name, and its prefix, in a releasing name. Undefined for every other name. */
export const readReleasingName = (name: string): { poolName: string; poolPrefix: string } | undefined => {
  if (!name.startsWith(serverNames.releasingPrefix)) return undefined;
  const poolName = name.slice(serverNames.releasingPrefix.length);
  const poolPrefix = poolName.slice(0, -suffixLength);
  if (poolPrefix === '' || poolPrefix.length > longestPrefix) return undefined;
  return /^[0-9a-f]+$/.test(poolName.slice(-suffixLength)) ? { poolName, poolPrefix } : undefined;
};

/** The pool name chosen for this release, if the server has a releasing name: stable over passes and lost responses. */
export const promisedPoolName = (name: string, poolPrefix: string): string | undefined => {
  const read = readReleasingName(name);
  return read?.poolPrefix === poolPrefix ? read.poolName : undefined;
};
