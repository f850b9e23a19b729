import type { MacHost } from '@tartan/api';
import { type CallOptions, type Client, isKubeError, type Live } from '@tartan/kube';
import { isHeldBy } from './obstacle.ts';
import { readHost } from './read-host.ts';
import { type Release, releaseHost } from './release-host.ts';

interface GiveBackOptions extends CallOptions {
  readonly serverID: string;
  /** UID of the machine that gives it back. */
  readonly holder: string;
  /** Made for the Mac as it is: it may know its pool better than the machine does. */
  readonly release: Release | ((host: Host) => Release);
}

type GiveBackOutcome =
  /** It is on its way back. */
  | { readonly kind: 'given'; readonly host: Host }
  /** This machine does not hold it: free, somebody else's, on its way back already, or (`undefined`) gone. */
  | { readonly kind: 'notMine'; readonly host: Host | undefined }
  | { readonly kind: 'tryAgain'; readonly why: string };

type Host = Live<MacHost>;

/** Whoever looks after the MacHost writes its status now and then. */
const mostTries = 3;

/**
 * A machine gives its Mac back, to be wiped and put into the pool.
 *
 * Flow: the MacHost is read from the server; if this machine holds it, one guarded write (`releaseHost`).
 * Guarantees: a Mac that anybody else holds is never released, whatever the caller has remembered. To repeat it does nothing more: the
 * second time it is `notMine`, with the release on it.
 */
export const giveBackHost = async (client: Client, options: GiveBackOptions): Promise<GiveBackOutcome> => {
  const { serverID, holder, release, ...call } = options;
  for (let tries = 1; tries <= mostTries; tries += 1) {
    const host = await readHost(client, serverID, call);
    if (host === undefined || !isHeldBy(host, holder)) return { kind: 'notMine', host };
    try {
      const wanted = typeof release === 'function' ? release(host) : release;
      return { kind: 'given', host: await releaseHost(client, host, wanted, call) };
    } catch (error) {
      if (!isKubeError(error, 'conflict', 'notFound')) throw error;
    }
  }
  return { kind: 'tryAgain', why: 'the MacHost is being changed by somebody else' };
};
