import { isDeepStrictEqual } from 'node:util';
import { claimsOf, conditionChanges, refreshAt } from './conditions.ts';
import type { LocalImage } from './host-facts.ts';
import { quantityOfKiB } from './quantity.ts';
import type { NodeStatus, Snapshot } from './snapshot.ts';

/** What users see of the Mac, from what is known of it. */

/**
 * Only the address: an API server prefers a host name by default, and nothing but the Mac itself resolves that one
 * (`kubectl logs` would fail). The name is in the label `kubernetes.io/hostname`.
 */
const addressesOf = ({ facts: { address } }: Snapshot): NonNullable<NodeStatus['addresses']> | undefined =>
  address === undefined ? undefined : [{ type: 'InternalIP', address }];

/** Stable, whatever the Mac is busy with: the scheduler must not reject Pods that the agent could explain (INC-42). */
const offerOf = ({ wanted, facts: { disk } }: Snapshot): Record<string, string> => ({
  cpu: String(wanted.hostCPU),
  memory: quantityOfKiB(wanted.hostMemoryMB * 1024),
  pods: String(wanted.maxPods),
  ...(disk !== undefined && disk.totalBytes > 0 ? { 'ephemeral-storage': quantityOfKiB(disk.totalBytes / 1024) } : {}),
});

/** Every field is there, as strict readers want it; one that is not known yet is empty. */
const infoOf = ({ wanted, facts: { system, runtime } }: Snapshot): NonNullable<NodeStatus['nodeInfo']> => ({
  operatingSystem: 'darwin',
  architecture: 'arm64',
  kubeletVersion: wanted.kubeletVersion,
  containerRuntimeVersion: `tart://${runtime ?? ''}`,
  kubeProxyVersion: '',
  osImage: system?.osImage ?? 'macOS',
  kernelVersion: system?.kernelVersion ?? '',
  machineID: system?.machineID ?? '',
  systemUUID: system?.systemUUID ?? '',
  bootID: system?.bootID ?? '',
});

/** As many as kubelets report, the largest first: those are what a scheduler looks for. */
const mostImages = 50;

const imagesOf = (images: readonly LocalImage[]): NonNullable<NodeStatus['images']> =>
  images
    .map(({ names, sizeBytes }) => ({ names: [...names].sort(), sizeBytes: Math.max(0, Math.floor(sizeBytes)) }))
    .filter(({ names }) => names.length > 0)
    .sort((a, b) => b.sizeBytes - a.sizeBytes || (a.names.join() < b.names.join() ? -1 : 1))
    .slice(0, mostImages);

/** Sorted, or the API server refuses it. Servers that do not know the field drop it. */
const declaredFeatures = ['ExtendWebSocketsToKubelet'];

/** Whether every field of `part` is in `whole` as it stands: what others added is theirs. */
const holds = (whole: object | undefined, part: object): boolean =>
  Object.entries(part).every(([key, value]) => isDeepStrictEqual(whole && Reflect.get(whole, key), value));

type Parts = Pick<
  NodeStatus,
  'addresses' | 'allocatable' | 'capacity' | 'conditions' | 'daemonEndpoints' | 'images' | 'nodeInfo'
>;

/** The parts of the status that are not as they should be. Empty: none. */
const changesIn = (snapshot: Snapshot): Parts => {
  const { now, node, facts, wanted } = snapshot;
  const status = node?.status ?? {};
  const offer = offerOf(snapshot);
  const info = infoOf(snapshot);
  const addresses = addressesOf(snapshot);
  const images = facts.images && imagesOf(facts.images);
  const daemonEndpoints = { kubeletEndpoint: { Port: wanted.port } };
  const conditions = conditionChanges(status.conditions ?? [], claimsOf(facts), now);
  return {
    ...(holds(status.capacity, offer) ? {} : { capacity: offer }),
    ...(holds(status.allocatable, offer) ? {} : { allocatable: offer }),
    ...(conditions && { conditions }),
    ...(addresses && !isDeepStrictEqual(status.addresses, addresses) ? { addresses } : {}),
    ...(holds(status.nodeInfo, info) ? {} : { nodeInfo: info }),
    ...(holds(status.daemonEndpoints, daemonEndpoints) ? {} : { daemonEndpoints }),
    ...(images && !isDeepStrictEqual(status.images ?? [], images) ? { images } : {}),
  };
};

/**
 * What to write of the status; `undefined` when it says everything already. The features alone are no reason to write: on a server
 * that drops them they would be missing for ever.
 */
export const statusChanges = (snapshot: Snapshot): NodeStatus | undefined => {
  const changes = changesIn(snapshot);
  if (Object.keys(changes).length === 0) return undefined;
  const declared = isDeepStrictEqual(snapshot.node?.status?.declaredFeatures, declaredFeatures);
  return { ...changes, ...(declared ? {} : { declaredFeatures }) };
};

/** When the status is to be written even though nothing changed. */
export const statusDueAt = ({ node, now }: Snapshot): number => refreshAt(node?.status?.conditions ?? [], now);
