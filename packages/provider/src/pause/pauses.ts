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

/** Why nothing may be done for an object, for people; empty when it may. The rule is Cluster API's: the annotation, or its Cluster. */
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

/** What is known of the objects that a pause of a Mac can come from. */
interface PauseFacts {
  machine(name: ObjectName): Machine | undefined;
  cluster(name: ObjectName): CoreCluster | undefined;
  clusters(): readonly CoreCluster[];
}

type MachineRef = NonNullable<NonNullable<MacHostSpec['release']>['machine']>;

/** Of a machine and its Cluster, as the cache has it. */
export const cachedPauseReasons = (machine: Machine, clusters: ClusterGetter): readonly string[] => {
  const name = clusterNameOf(machine);
  return pauseReasonsOf(machine, name && clusters.get(keyOf(name)));
};

/** The machine that holds a Mac, or gave it back; undefined when nothing says which. */
const machineRefOf = ({ spec: { release, consumerRef } }: MacHost): MachineRef | undefined => {
  if (release !== undefined) return release.machine;
  const { group, kind } = kindNames.machine;
  if (consumerRef?.kind !== kind || !consumerRef.apiVersion.startsWith(`${group}/`)) return undefined;
  const { namespace, name, uid } = consumerRef;
  return { namespace, name, uid };
};

/**
 * Why nothing may be done to a Mac, for people.
 *
 *   | the MacHost                                           | is paused with                                       |
 *   |-------------------------------------------------------|------------------------------------------------------|
 *   | any                                                   | its own annotation                                   |
 *   | names a machine that exists                           | that machine, or the Cluster of it                   |
 *   | was given back by a machine that is gone              | the Cluster that the release names                   |
 *   | is released or stranded, and nothing says where from  | any Cluster of Macs: it may be of that one           |
 *   | is free, or held by something that is no machine      | nothing else                                         |
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

/** A release remembers the Cluster of its machine, which may be gone. */
const clusterOf = (ref: MachineRef | undefined, machine: Machine | undefined): ObjectName | undefined =>
  ref?.cluster ? { namespace: ref.namespace, name: ref.cluster } : machine && clusterNameOf(machine);

const machinePauseReasons = (machine: Machine | undefined, cluster: CoreCluster | undefined): readonly string[] =>
  pauseReasonsOf({ kind: kindNames.machine.kind, metadata: machine?.metadata ?? {} }, cluster);

/** Nothing but a release and a stranded Mac leads to a wipe. */
const hasUnknownOrigin = (host: Live<MacHost>): boolean =>
  host.spec.release ? host.spec.release.machine === undefined : host.status?.state === 'stranded';

/** Clusters whose infrastructure is ours. */
const pausedMacClusters = (clusters: readonly CoreCluster[]): readonly string[] =>
  clusters
    .filter(({ spec }) => spec?.paused === true && spec.infrastructureRef?.kind === kindNames.cluster.kind)
    .map(
      ({ metadata }) =>
        `Cluster ${metadata?.namespace ?? ''}/${metadata?.name ?? ''} is paused, and the Mac may belong to it`,
    );

/** With it `clusterctl move` gives up before it creates or deletes anything; a value is not asked for. */
export const moveBlockingPatch = { metadata: { annotations: { [annotations.blockMove]: '' } } };

/**
 * Pauses as the API server has them at this moment: read right before something that cannot be undone. A watch may be behind, and whoever
 * pauses a Cluster relies on it once the server has taken it.
 */
export interface PauseReader {
  readonly client: Pick<Client, 'get' | 'list'>;
  readonly coreClusters: Resource<CoreCluster>;
}

/** Of a machine that is there. One that is gone is nobody's to pause. */
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
  const found = ref && (await ignoreNotFound(client.get(machineKind.resource, ref, call)));
  const machine = found?.metadata.uid === ref?.uid ? found : undefined;
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
