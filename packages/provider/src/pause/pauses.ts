import { annotations, kindNames, labels, machine as machineKind, type MacHost, type MacHostSpec } from '@tartan/api';
import {
  type CallOptions,
  type Client,
  ignoreNotFound,
  keyOf,
  type KubeObject,
  type Live,
  type ObjectName,
  type Resource,
} from '@tartan/kube';
import type { ClusterGetter, Machine } from '../controller-deps.ts';
import type { CoreCluster } from '../core/kinds.ts';

/** Why an object is paused, for users; empty if it is not. The rule is Cluster API's: the annotation, or its Cluster. */
export const pauseReasonsOf = (object: KubeObject, cluster: CoreCluster | undefined): readonly string[] => [
  ...(cluster?.spec?.paused === true ? ['Cluster spec.paused is set to true'] : []),
  ...(annotations.paused in (object.metadata?.annotations ?? {})
    ? [`${object.kind ?? 'the object'} has the ${annotations.paused} annotation`]
    : []),
];

/** The Cluster that a machine belongs to, by the label that Cluster API sets. */
export const clusterNameOf = ({ metadata }: Machine): ObjectName | undefined => {
  const name = metadata.labels?.[labels.clusterName];
  return name ? { namespace: metadata.namespace ?? '', name } : undefined;
};

/** Access to the objects that can pause a Mac. */
interface PauseFacts {
  machine(name: ObjectName): Machine | undefined;
  cluster(name: ObjectName): CoreCluster | undefined;
  clusters(): readonly Live<CoreCluster>[];
}

type MachineRef = NonNullable<NonNullable<MacHostSpec['release']>['machine']>;

/** Of a machine and its Cluster, from the cache. */
export const cachedPauseReasons = (machine: Machine, clusters: ClusterGetter): readonly string[] => {
  const name = clusterNameOf(machine);
  return pauseReasonsOf(machine, name && clusters.get(keyOf(name)));
};

/** The machine that holds a Mac, or released it; undefined if unknown. */
const machineRefOf = ({ spec: { release, consumerRef } }: MacHost): MachineRef | undefined => {
  if (release !== undefined) return release.machine;
  const { group, kind } = kindNames.machine;
  if (consumerRef?.kind !== kind || !consumerRef.apiVersion.startsWith(`${group}/`)) return undefined;
  const { namespace, name, uid } = consumerRef;
  return { namespace, name, uid };
};

/**
 * Why a Mac is paused, for users.
 *
 *   | the MacHost                                     | is paused with                                 |
 *   |-------------------------------------------------|------------------------------------------------|
 *   | any                                             | its own annotation                             |
 *   | names a machine that exists                     | that machine, or the Cluster of it             |
 *   | was released by a machine that is gone          | the Cluster that the release names             |
 *   | is released or stranded, of unknown origin      | any Cluster of Macs: it may belong to that one |
 *   | is free, or held by another kind than a machine | nothing else                                   |
 */
export const hostPauseReasons = (host: Live<MacHost>, facts: PauseFacts): readonly string[] => {
  const own = pauseReasonsOf({ kind: kindNames.macHost.kind, metadata: host.metadata }, undefined);
  const ref = machineRefOf(host);
  const found = ref && facts.machine(ref);
  const machine = found?.metadata.uid === ref?.uid ? found : undefined;
  const clusterName = clusterOf(ref, machine);
  if (machine !== undefined || clusterName !== undefined)
    return [...own, ...machinePauseReasons(machine, clusterName && facts.cluster(clusterName))];
  return hasUnknownOrigin(host) ? [...own, ...pausedMacClusters(facts.clusters())] : own;
};

/** A release records the Cluster of its machine, which may be gone. */
const clusterOf = (ref: MachineRef | undefined, machine: Machine | undefined): ObjectName | undefined =>
  ref?.cluster ? { namespace: ref.namespace, name: ref.cluster } : machine && clusterNameOf(machine);

const machinePauseReasons = (machine: Machine | undefined, cluster: CoreCluster | undefined): readonly string[] =>
  pauseReasonsOf({ kind: kindNames.machine.kind, metadata: machine?.metadata ?? {} }, cluster);

/** Only released and stranded Macs get wiped. */
const hasUnknownOrigin = (host: Live<MacHost>): boolean =>
  host.spec.release ? host.spec.release.machine === undefined : host.status?.state === 'stranded';

/** Paused Clusters whose infrastructure is ours. */
const pausedMacClusters = (clusters: readonly Live<CoreCluster>[]): readonly string[] =>
  clusters
    .filter(({ spec }) => spec?.paused === true && spec.infrastructureRef?.kind === kindNames.cluster.kind)
    .map(({ metadata }) => `Cluster ${keyOf(metadata)} is paused, and the Mac may belong to it`);

/** With this annotation `clusterctl move` fails before it creates or deletes anything; the value does not matter. */
export const moveBlockingPatch = { metadata: { annotations: { [annotations.blockMove]: '' } } };

/**
 * Live reads of pauses, right before an irreversible action. A watch may lag, and a user who pauses a Cluster relies on it as soon as the
 * API server has stored it.
 */
export interface PauseReader {
  readonly client: Pick<Client, 'get' | 'list'>;
  readonly coreClusters: Resource<CoreCluster>;
}

/** Empty if the machine is gone. */
export const readMachinePauseReasons = async (
  reader: PauseReader,
  name: ObjectName,
  call: CallOptions,
): Promise<readonly string[]> => {
  const machine = await ignoreNotFound(reader.client.get(machineKind.resource, name, call));
  const clusterName = machine && clusterNameOf(machine);
  const cluster = clusterName && (await readCluster(reader, clusterName, call));
  return machine === undefined ? [] : pauseReasonsOf(machine, cluster);
};

export const readHostPauseReasons = async (
  reader: PauseReader,
  host: Live<MacHost>,
  call: CallOptions,
): Promise<readonly string[]> => {
  const { client, coreClusters } = reader;
  const ref = machineRefOf(host);
  const machine = ref && (await ignoreNotFound(client.get(machineKind.resource, ref, call)));
  const clusterName = clusterOf(ref, machine);
  const cluster = clusterName && (await readCluster(reader, clusterName, call));
  const clusters = hasUnknownOrigin(host) ? ((await ignoreNotFound(client.list(coreClusters, call)))?.items ?? []) : [];
  return hostPauseReasons(host, { machine: () => machine, cluster: () => cluster, clusters: () => clusters });
};

export const readCluster = (
  { client, coreClusters }: PauseReader,
  name: ObjectName,
  call: CallOptions,
): Promise<Live<CoreCluster> | undefined> => ignoreNotFound(client.get(coreClusters, name, call));
