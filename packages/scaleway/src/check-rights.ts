import type { CallOptions, HostPool } from './host-pool.ts';
import { ScalewayError } from './scaleway-error.ts';

/**
 * Reads once all that we will need, and tells what fails: `denied` names the permission set that is missing. Asked at start, so that a key
 * without rights shows there and not as a fleet that never comes up (I-33). Reads only: that a key may write shows when it does.
 */
export const checkRights = async (
  pool: HostPool,
  zones: readonly string[],
  options: CallOptions = {},
): Promise<ScalewayError[]> => {
  const reads = await Promise.allSettled([
    ...zones.map((zone) => pool.listServers(zone, options)),
    pool.listKeys(options),
  ]);
  return reads.flatMap((read) => {
    if (read.status === 'fulfilled') return [];
    if (read.reason instanceof ScalewayError) return [read.reason];
    throw read.reason;
  });
};
