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
  /** The owner of the Lease, for garbage collection; `undefined` without a Node. */
  readonly nodeUID: () => string | undefined;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The kubelet's defaults. The node controller marks a Node unhealthy after 40 to 50 s without a renewal. */
const durationSeconds = 40;
const renewIntervalMs = 10_000;
/** Leaves time for a second attempt. */
const deadlineMs = 8_000;
const retryMs = 1_000;

const namespace = 'kube-node-lease';

/**
 * Renews the Node's Lease every ten seconds, in a loop that depends only on the API server: no slow `tart`, probe or other write can
 * delay it (INC-12).
 *
 * Flow: one PUT of the last seen Lease; only if that fails it is read again, or created.
 * Guarantees: at most one request at a time; retries failures after a second, without limit.
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

/** The Lease after this renewal; `undefined` while there is no Node. */
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
      // It was deleted with the Node, or another client wrote it: read again, once.
      if (last === undefined || !isKubeError(error, 'notFound', 'conflict')) throw error;
      return renewOnce(options, undefined, call);
    }
  }
  // Without an owner it would outlive the Node.
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
