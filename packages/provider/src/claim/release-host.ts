import { macHost, type MacHostSpec } from '@tartan/api';
import { type CallOptions, type Client, isKubeError, patchIfUnchanged } from '@tartan/kube';
import type { Host } from '../controller-deps.ts';
import { readHost } from './claim-host.ts';
import { isHeldBy } from './suitability.ts';

export type Release = NonNullable<MacHostSpec['release']>;

/**
 * Puts a Mac on its way back: no holder any more, and a release, in one write. So nobody ever sees it free and not wiped, and a claim
 * and a release exclude each other (E6). A reboot that was asked for goes with the holder that asked.
 * Rejects with `conflict` when it is another Mac, or another version of it, than was judged.
 */
export const releaseHost = (
  client: Pick<Client, 'patch'>,
  host: Host,
  release: Release,
  options: CallOptions = {},
): Promise<Host> =>
  patchIfUnchanged(client, macHost.resource, host, { spec: { consumerRef: null, reboot: null, release } }, options);

interface ReleaseHeldOptions extends CallOptions {
  readonly serverID: string;
  /** UID of the machine that gives it back. */
  readonly holder: string;
  readonly release: Release;
}

/** Whoever looks after the MacHost writes its status now and then. */
const maxAttempts = 3;

/**
 * A machine gives its Mac back, to be wiped and put into the pool.
 *
 * Flow: the MacHost is read from the server; if this machine holds it, one guarded write (`releaseHost`).
 * Guarantees: a Mac that anybody else holds is never released, whatever the caller has remembered. To repeat it does nothing more: the
 * second time it is `not held`: free, somebody else's, on its way back already, or gone.
 */
export const releaseHeldHost = async (
  client: Client,
  options: ReleaseHeldOptions,
): Promise<'released' | 'not held' | 'conflict'> => {
  const { serverID, holder, release, ...call } = options;
  for (let tries = 1; tries <= maxAttempts; tries += 1) {
    const host = await readHost(client, serverID, call);
    if (host === undefined || !isHeldBy(host, holder)) return 'not held';
    try {
      await releaseHost(client, host, release, call);
      return 'released';
    } catch (error) {
      if (!isKubeError(error, 'conflict', 'notFound')) throw error;
    }
  }
  return 'conflict';
};
