import { serverNames } from '@tartan/api';

/**
 * How a server is called at Scaleway: the machine's name while it is held, `<pool prefix><8 hex>` in a pool, and on its way back
 * `tuist-releasing-` before the pool name it will get. So the name alone tells what to do with a Mac whose MacHost is lost.
 */

const suffixLength = 8;
/** As the schema of MacHost has it: a longer one could not be written down. */
const longestPrefix = 63;

/** Of a random number in [0, 1). */
export const newSuffix = (random: number): string =>
  Math.floor(random * 16 ** suffixLength)
    .toString(16)
    .padStart(suffixLength, '0')
    .slice(-suffixLength);

/** A short prefix, such as `tuist-`, may also begin names that say the opposite of being in a pool. An empty one begins all. */
export const isPoolName = (name: string, prefix: string): boolean =>
  prefix !== '' &&
  name.startsWith(prefix) &&
  !name.startsWith(serverNames.releasingPrefix) &&
  !name.startsWith(serverNames.claimPendingPrefix);

export const releasingName = (poolName: string): string => `${serverNames.releasingPrefix}${poolName}`;

/** The pool name that a releasing one promises, and its prefix. Undefined for every other name. */
export const readReleasingName = (name: string): { poolName: string; poolPrefix: string } | undefined => {
  if (!name.startsWith(serverNames.releasingPrefix)) return undefined;
  const poolName = name.slice(serverNames.releasingPrefix.length);
  const poolPrefix = poolName.slice(0, -suffixLength);
  if (poolPrefix === '' || poolPrefix.length > longestPrefix) return undefined;
  return /^[0-9a-f]+$/.test(poolName.slice(-suffixLength)) ? { poolName, poolPrefix } : undefined;
};

/** The pool name that was chosen for this release already, if the server bears one: stable over passes and lost answers. */
export const promisedPoolName = (name: string, poolPrefix: string): string | undefined => {
  const read = readReleasingName(name);
  return read?.poolPrefix === poolPrefix ? read.poolName : undefined;
};
