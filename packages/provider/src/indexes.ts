import {
  type ExternalControlPlane,
  externalControlPlane,
  labels,
  type MacFleet,
  macFleet,
  machine,
  type MacHost,
  macHost,
  type ScalewayAppleSiliconMachine,
  secretNames,
} from '@tartan/api';
import {
  certificateSigningRequests,
  type InformerOptions,
  keyOf,
  type KubeObject,
  type Live,
  nodes,
  pods,
  type Resource,
} from '@tartan/kube';
import { hostSummary, isInAnyPool } from './claim/choose-host.ts';
import { ownerClusterOf } from './cluster/member.ts';
import type { CertificateRequest, Lister, Node, Pod } from './controller-deps.ts';
import { type CoreMachineDeployment, coreMachineDeployments } from './core/kinds.ts';
import { fleetNameOf } from './fleet/turns.ts';
import { tokenIDOf } from './identity/names.ts';
import { sshKeyName } from './machine/machine.ts';
import { clusterNameOf } from './pause/pauses.ts';
import { readyMacLabels } from './spread/ready-macs.ts';

/**
 * The indexes of the caches. A watch handler or a pass looks objects up by these, so that its cost does not grow with the fleet. Only
 * periodic work (sweep, inventory, metrics) goes through all objects.
 */

type Indexes<T extends KubeObject> = NonNullable<InformerOptions<T>['indexes']>;

/** An index value for one kind of Mac in one zone. */
export const hardwareKey = (zone: string, type: string | undefined): string => `${zone}/${type ?? ''}`;

/** The index value of all members, for an index that only selects. */
export const selected = 'selected';

const whenDefined = (value: string | undefined): string[] => (value ? [value] : []);

export const machineIndexes = {
  uid: ({ metadata }) => [metadata.uid],
  /** Machines of one name, in all namespaces. A Node has the name of its machine. */
  name: ({ metadata }) => [metadata.name],
  /** `namespace/fleet` */
  fleet: (each) => [keyOf({ namespace: each.metadata.namespace ?? '', name: fleetNameOf(each) })],
  /** The server that it has reserved. */
  serverID: ({ status }) => whenDefined(status?.serverID),
  /** `namespace/name` of its Cluster. */
  cluster: (each) => {
    const name = clusterNameOf(each);
    return name ? [keyOf(name)] : [];
  },
  sshKey: (each) => [sshKeyName(each)],
  /** Machines that have no Mac yet, by `hardwareKey`. */
  withoutHost: ({ metadata, spec, status }) =>
    status?.serverID || metadata.deletionTimestamp !== undefined ? [] : [hardwareKey(spec.zone, spec.type)],
} as const satisfies Indexes<ScalewayAppleSiliconMachine>;

export const macHostIndexes = {
  /** UID of its holder. */
  consumer: ({ spec }) => whenDefined(spec.consumerRef?.uid),
  /** Its name at Scaleway. */
  serverName: ({ status }) => whenDefined(status?.name),
  state: ({ status }) => whenDefined(status?.state),
  /** Macs in a pool that nobody holds, by `hardwareKey`. */
  pool: (host) => (isInAnyPool(host) ? [hardwareKey(host.spec.zone, host.status?.type)] : []),
  /** Macs that are being released, by `hardwareKey`. */
  releasing: ({ spec, status }) => (spec.release ? [hardwareKey(spec.zone, status?.type)] : []),
  /** What a machine that finds none is told of it: to be counted. */
  summary: (host) => (host.status?.gone === true ? [] : [hostSummary(host)]),
} as const satisfies Indexes<MacHost>;

export const macFleetIndexes = {
  name: ({ metadata }) => [metadata.name],
} as const satisfies Indexes<MacFleet>;

export const machineDeploymentIndexes = {
  /** `namespace/fleet` */
  fleet: ({ metadata }) => {
    const fleet = metadata.labels?.[labels.fleet];
    return fleet ? [keyOf({ namespace: metadata.namespace ?? '', name: fleet })] : [];
  },
} as const satisfies Indexes<CoreMachineDeployment>;

export const nodeIndexes = {
  providerID: ({ spec }) => whenDefined(spec?.providerID),
  /** `selected`: Macs that are Ready. */
  readyMac: (node) => (readyMacLabels(node) ? [selected] : []),
} as const satisfies Indexes<Node>;

export const podIndexes = {
  /** The Node that it is bound to. */
  node: ({ spec }) => whenDefined(spec?.nodeName),
} as const satisfies Indexes<Pod>;

export const certificateRequestIndexes = {
  /** The bootstrap token of the requester. */
  tokenID: ({ spec }) => whenDefined(tokenIDOf(spec.username ?? '')),
} as const satisfies Indexes<CertificateRequest>;

const clusterMemberIndexes = {
  /** UID of the Cluster that owns it. */
  owner: (each) => whenDefined(ownerClusterOf(each)?.uid),
} as const satisfies Indexes<KubeObject>;

export const controlPlaneIndexes = {
  ...clusterMemberIndexes,
  /** `namespace/name` of its kubeconfig. */
  kubeconfig: (each) => {
    const cluster = ownerClusterOf(each)?.name;
    return cluster ? [keyOf({ namespace: each.metadata.namespace ?? '', name: secretNames.kubeconfig(cluster) })] : [];
  },
} as const satisfies Indexes<ExternalControlPlane>;

const byKind = new Map<string, Readonly<Record<string, (object: never) => readonly string[]>>>([
  [machine.resource.kind, machineIndexes],
  [macHost.resource.kind, macHostIndexes],
  [macFleet.resource.kind, macFleetIndexes],
  [coreMachineDeployments('v1beta2').kind, machineDeploymentIndexes],
  [nodes.kind, nodeIndexes],
  [pods.kind, podIndexes],
  [certificateSigningRequests.kind, certificateRequestIndexes],
  [externalControlPlane.resource.kind, controlPlaneIndexes],
]);

/** The option `indexes` of every informer of that kind. */
export const indexesOf = <T extends KubeObject>(resource: Pick<Resource<T>, 'kind'>): Indexes<T> =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- The kind determines T.
  (byKind.get(resource.kind) ?? clusterMemberIndexes) as Indexes<T>;

/** A list as a cache, for `tartan explain` and tests. */
export const listerOf = <T extends KubeObject, Index extends string = never>(
  objects: readonly Live<T>[],
  indexes: { readonly [Name in Index]: (object: Live<T>) => readonly string[] },
): Lister<T, Index> => {
  const byKey = new Map(objects.map((object) => [keyOf(object.metadata), object]));
  const built = new Map<Index, ReadonlyMap<string, Live<T>[]>>();
  const build = (index: Index): ReadonlyMap<string, Live<T>[]> => {
    const byValue = new Map<string, Live<T>[]>();
    for (const object of objects)
      for (const value of indexes[index](object)) byValue.set(value, [...(byValue.get(value) ?? []), object]);
    built.set(index, byValue);
    return byValue;
  };
  return {
    get: (key) => byKey.get(key),
    list: () => [...objects],
    byIndex: (index, value) => (built.get(index) ?? build(index)).get(value) ?? [],
    countByIndex: (index) =>
      new Map((built.get(index) ?? build(index)).entries().map(([value, withIt]) => [value, withIt.length])),
  };
};
