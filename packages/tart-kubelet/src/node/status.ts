import { isDeepStrictEqual } from 'node:util';
import type { LocalImage } from '../facts/host-facts.ts';
import { conditionChanges, conditionStates, nextRefresh } from './conditions.ts';
import type { NodeStatus, Snapshot } from './observe.ts';

/**
 * KiB as the API server normalises it: in the largest unit without loss. In any other form the Node would always differ, and every
 * reconcile would write.
 */
export const formatKiB = (kibibytes: number): string => {
  const units = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
  let value = Math.max(0, Math.floor(kibibytes));
  let unit = 0;
  while (value > 0 && value % 1024 === 0 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return value === 0 ? '0' : `${value}${units[unit]}`;
};

/**
 * Only the address: an API server prefers the host name by default, which only the Mac itself can resolve (`kubectl
 * logs` would fail). The name is in the label `kubernetes.io/hostname`.
 */
const addressesOf = ({ facts: { address } }: Snapshot): Pick<NodeStatus, 'addresses'> =>
  address === undefined ? {} : { addresses: [{ type: 'InternalIP', address }] };

/** Constant, whatever the Mac is busy with: the scheduler must not reject Pods whose wait the agent could explain (INC-42). */
const capacityOf = ({ config, facts: { disk } }: Snapshot): Record<string, string> => ({
  cpu: String(config.hostCPU),
  memory: formatKiB(config.hostMemoryMB * 1024),
  pods: String(config.maxPods),
  ...(disk !== undefined && disk.totalBytes > 0 ? { 'ephemeral-storage': formatKiB(disk.totalBytes / 1024) } : {}),
});

/** All fields are set, as strict clients require; unknown ones are empty. */
const nodeInfoOf = ({ config, facts: { system, tartVersion } }: Snapshot): NonNullable<NodeStatus['nodeInfo']> => ({
  operatingSystem: 'darwin',
  architecture: 'arm64',
  kubeletVersion: config.kubeletVersion,
  containerRuntimeVersion: `tart://${tartVersion ?? ''}`,
  kubeProxyVersion: '',
  osImage: system?.osImage ?? 'macOS',
  kernelVersion: system?.kernelVersion ?? '',
  machineID: system?.machineID ?? '',
  systemUUID: system?.systemUUID ?? '',
  bootID: system?.bootID ?? '',
});

/** As many as the kubelet reports, the largest first: these matter most to the scheduler. */
const maxImages = 50;

const imagesOf = (images: readonly LocalImage[]): NonNullable<NodeStatus['images']> =>
  images
    .map(({ names, sizeBytes }) => ({ names: [...names].sort(), sizeBytes: Math.max(0, Math.floor(sizeBytes)) }))
    .filter(({ names }) => names.length > 0)
    .sort((a, b) => b.sizeBytes - a.sizeBytes || (a.names.join() < b.names.join() ? -1 : 1))
    .slice(0, maxImages);

/** Sorted, or the API server rejects it. Servers that do not know the field drop it. */
const declaredFeatures = ['ExtendWebSocketsToKubelet'];

/** Whether a part of the status is as desired. Of an object only the fields of `wanted` count: other clients may add fields. */
const isAsWanted = (current: object | undefined, wanted: object): boolean =>
  Array.isArray(wanted)
    ? isDeepStrictEqual(current ?? [], wanted)
    : Object.entries(wanted).every(([key, value]) => isDeepStrictEqual(current && Reflect.get(current, key), value));

/** The parts of the status that differ. Empty: none. */
const statusDiff = (snapshot: Snapshot): NodeStatus => {
  const { now, node, facts, config } = snapshot;
  const status = node?.status ?? {};
  const capacity = capacityOf(snapshot);
  const wanted: NodeStatus = {
    capacity,
    allocatable: capacity,
    nodeInfo: nodeInfoOf(snapshot),
    daemonEndpoints: { kubeletEndpoint: { Port: config.port } },
    ...addressesOf(snapshot),
    ...(facts.images && { images: imagesOf(facts.images) }),
  };
  const conditions = conditionChanges(status.conditions ?? [], conditionStates(facts), now);
  const changed = Object.entries(wanted).filter(([key, part]) => !isAsWanted(Reflect.get(status, key), part));
  return { ...Object.fromEntries(changed), ...(conditions && { conditions }) };
};

/**
 * The status changes; `undefined` if there are none. Missing features alone cause no write: a server that drops the field would
 * cause endless writes.
 */
export const statusChanges = (snapshot: Snapshot): NodeStatus | undefined => {
  const changes = statusDiff(snapshot);
  if (Object.keys(changes).length === 0) return undefined;
  const declared = isDeepStrictEqual(snapshot.node?.status?.declaredFeatures, declaredFeatures);
  return { ...changes, ...(declared ? {} : { declaredFeatures }) };
};

/** When the status is due for a refresh without changes. */
export const nextStatusRefresh = ({ node, now }: Snapshot): number => nextRefresh(node?.status?.conditions ?? [], now);
