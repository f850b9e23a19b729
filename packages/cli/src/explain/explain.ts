import { runnerPool } from '@tartan/api';
import { events as eventKind, isKubeError, type Live } from '@tartan/kube';
import { timestamp } from '@tartan/kube/clock';
import { coreClusters } from '@tartan/provider/decisions';
import type { Connection } from '../cluster/connection.ts';
import { listIfAllowed } from '../cluster/list.ts';
import { type ClusterState, readClusterState, type Selection } from '../cluster/state.ts';
import type { ExplainDocument, ExplainInput, Explanation, ManagerFlags } from './explanation.ts';
import { explainFleet } from './fleet.ts';
import { explainHost } from './host.ts';
import { explainMachine } from './machine.ts';
import { explainNode } from './node.ts';
import { explainPod } from './pod.ts';
import { nameOf, resolveName, type Subject } from './resolve-name.ts';
import { explainRunnerPool } from './runner-pool.ts';

export type Explained =
  | { readonly kind: 'explained'; readonly document: ExplainDocument }
  | { readonly kind: 'not found'; readonly why: string };

/** Reads all that matters once, finds what is meant and tells its story. Rejects when the cluster cannot be looked at. */
export const explain = async (
  cluster: Pick<Connection, 'client' | 'clock'>,
  { name, namespace, managerFlags }: Selection & { readonly name: string; readonly managerFlags: ManagerFlags },
  signal: AbortSignal,
): Promise<Explained> => {
  const world = await readAcrossNamespaces(cluster, namespace, signal);
  // Most clusters have no runners: a kind that is missing, or may not be read, is not worth a word.
  const { items: runnerPools = [] } = await listIfAllowed(cluster, runnerPool.resource, { signal });
  const found = resolveName(name, { ...world, runnerPools }, namespace);
  if (found.kind === 'not found') return { kind: 'not found', why: [found.why, ...world.notes].join(' ') };
  const clusters = new Map(
    (await readClusters(cluster, signal)).map((each) => [
      `${each.metadata.namespace ?? ''}/${each.metadata.name}`,
      each,
    ]),
  );
  const explanation = explanationOf(found.subject, { ...world, clusters, managerFlags });
  const { relatedUIDs, ...rest } = explanation;
  const also =
    found.others.length > 0 ? [`There is also ${found.others.map(nameOf).join(', ')}: explain it by that name.`] : [];
  return {
    kind: 'explained',
    document: {
      schema: 'tartan.explain/v1',
      at: timestamp(world.now),
      ...rest,
      events: await eventsOf(cluster, relatedUIDs, signal),
      notes: [...also, ...world.notes],
    },
  };
};

/** A machine counts on Macs that machines of other namespaces may have reserved: all are read, where that is allowed. */
const readAcrossNamespaces = async (
  cluster: Pick<Connection, 'client' | 'clock'>,
  namespace: string | undefined,
  signal: AbortSignal,
): Promise<ClusterState> => {
  try {
    return await readClusterState(cluster, {}, signal);
  } catch (error) {
    const { cause } = error instanceof Error ? error : {};
    if (namespace === undefined || !isKubeError(cause, 'forbidden')) throw error;
    const world = await readClusterState(cluster, { namespace }, signal);
    return {
      ...world,
      notes: [
        ...world.notes,
        `Machines of other namespaces than ${namespace} may not be read: what they have reserved is not known.`,
      ],
    };
  }
};

const explanationOf = (subject: Subject, world: ExplainInput & ClusterState): Explanation => {
  switch (subject.kind) {
    case 'machine':
      return explainMachine(subject.machine, world);
    case 'host':
      return explainHost(subject.host, world);
    case 'node':
      return explainNode(subject.node, world);
    case 'pod':
      return explainPod(subject.pod, world);
    case 'fleet':
      return explainFleet(subject.fleet, world);
    case 'runnerpool':
      return explainRunnerPool(subject.pool, world);
  }
};

/** Cluster API's own kinds may be there in either version, or not at all. */
const readClusters = async (cluster: Pick<Connection, 'client'>, signal: AbortSignal) => {
  for (const version of ['v1beta2', 'v1beta1'] as const) {
    const { items } = await listIfAllowed(cluster, coreClusters(version), { signal });
    if (items !== undefined) return items;
  }
  return [];
};

type Event = Live<NonNullable<(typeof eventKind)['ofType']>>;
const maxEvents = 10;

const eventsOf = async (
  cluster: Pick<Connection, 'client'>,
  about: readonly string[],
  signal: AbortSignal,
): Promise<ExplainDocument['events']> => {
  const lists = await Promise.all(
    about.map((uid) => listIfAllowed(cluster, eventKind, { signal, fieldSelector: `involvedObject.uid=${uid}` })),
  );
  return lists
    .flatMap(({ items = [] }) => items)
    .sort((a, b) => (timeOf(a) ?? '').localeCompare(timeOf(b) ?? ''))
    .slice(-maxEvents)
    .map((event) => ({
      at: timeOf(event) ?? null,
      object: `${event.involvedObject.kind ?? ''}/${event.involvedObject.name ?? ''}`,
      type: event.type ?? '',
      reason: event.reason ?? '',
      message: event.message ?? '',
      count: event.series?.count ?? event.count ?? 1,
    }));
};

const timeOf = ({ lastTimestamp, series, eventTime, metadata }: Event): string | undefined =>
  series?.lastObservedTime ?? lastTimestamp ?? eventTime ?? metadata.creationTimestamp;
