import {
  type CallOptions,
  type Client,
  ignoreNotFound,
  isKubeError,
  leases,
  type Live,
  type Logger,
} from '@tartan/kube';
import { type Clock, microTimestamp, sleep } from '@tartan/kube/clock';

type Lease = NonNullable<(typeof leases)['ofType']>;

export interface LeaseOptions {
  readonly client: Client;
  readonly nodeName: string;
  /** Of the Node, so that the Lease goes with it; `undefined` while there is none. */
  readonly nodeUID: () => string | undefined;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Kubelets' numbers. The controller manager gives up on a Node after 40 to 50 s without a renewal. */
const durationSeconds = 40;
const renewIntervalMs = 10_000;
/** Leaves a second try before the time is up. */
const deadlineMs = 8_000;
const retryMs = 1_000;

const namespace = 'kube-node-lease';

/**
 * Says that the Mac is alive, every ten seconds, in a loop that waits for nothing but the API server: no slow `tart`, no probe and no
 * other write can delay it (INC-12).
 *
 * Flow: one PUT of the Lease as last seen; only when that fails it is read again, or made.
 * Guarantees: at most one request under way; a failure is tried again after a second, without end.
 */
export const keepLeaseRenewed = async (options: LeaseOptions, signal: AbortSignal): Promise<void> => {
  const { clock, log } = options;
  let last: Live<Lease> | undefined;
  let failing = false;
  while (!signal.aborted) {
    const began = clock.monotonic();
    try {
      last = await renewOnce(options, last, { signal, deadlineMs });
      if (failing) log.info('The Lease of the Node is renewed again');
      failing = false;
    } catch (error) {
      if (signal.aborted) return;
      if (!failing) log.warn('The Lease of the Node could not be renewed', { error });
      failing = true;
      last = undefined;
    }
    const rest = last === undefined ? retryMs : Math.max(0, began + renewIntervalMs - clock.monotonic());
    await sleep(clock, rest, signal);
  }
};

/** The Lease after this renewal; `undefined` when there is nobody to renew it for. */
const renewOnce = async (
  options: LeaseOptions,
  last: Live<Lease> | undefined,
  call: CallOptions,
): Promise<Live<Lease> | undefined> => {
  const { client, nodeName } = options;
  const found = last ?? (await ignoreNotFound(client.get(leases, { namespace, name: nodeName }, call)));
  if (found !== undefined) {
    try {
      return await client.update(leases, { ...found, ...leaseContent(options, found) }, call);
    } catch (error) {
      // It went with a Node that was deleted, or somebody else wrote it: look again, once.
      if (last === undefined || !isKubeError(error, 'notFound', 'conflict')) throw error;
      return renewOnce(options, undefined, call);
    }
  }
  // Without an owner it would stay when the Node goes.
  if (options.nodeUID() === undefined) return undefined;
  const content = leaseContent(options, { metadata: { namespace, name: nodeName } });
  return client.create(leases, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', ...content }, call);
};

const leaseContent = <Metadata extends object>(
  { nodeName, nodeUID, clock }: LeaseOptions,
  { metadata, spec }: { metadata: Metadata; spec?: Lease['spec'] },
) => {
  const uid = nodeUID();
  const ownerReferences = uid === undefined ? {} : { ownerReferences: [nodeOwner(nodeName, uid)] };
  return {
    metadata: { ...metadata, ...ownerReferences },
    spec: {
      ...spec,
      holderIdentity: nodeName,
      leaseDurationSeconds: durationSeconds,
      renewTime: microTimestamp(clock.now()),
    },
  };
};

const nodeOwner = (name: string, uid: string) => ({ apiVersion: 'v1', kind: 'Node', name, uid });
