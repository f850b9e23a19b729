import { runnerPool } from '@tartan/api';
import { events as eventKind, isKubeError, keyOf, type Live } from '@tartan/kube';
import { timestamp } from '@tartan/kube/clock';
import { coreClusters } from '@tartan/provider/decisions';
import type { Connection } from '../cluster/connection.ts';
import { listIfAllowed } from '../cluster/list.ts';
import { type ClusterState, readClusterState, type Selection } from '../cluster/state.ts';
import type { ExplainDocument, ExplainInput, Explanation } from './explanation.ts';
import { explainFleet } from './fleet.ts';
import { explainHost } from './host.ts';
import { explainMachine } from './machine.ts';
import { explainNode } from './node.ts';
import { explainPod } from './pod.ts';
import { nameOf, resolveName, type Subject } from './resolve-name.ts';
import { explainRunnerPool } from './runner-pool.ts';

/** Reads the cluster once, finds the named object and explains it. Rejects when the cluster cannot be read, or has no such object. */
export const explain = async (
  cluster: Pick<Connection, 'client' | 'clock'>,
  { name, namespace, managerFlags }: Selection & Pick<ExplainInput, 'managerFlags'> & { readonly name: string },
  signal: AbortSignal,
): Promise<ExplainDocument> => {
  const state = await readAcrossNamespaces(cluster, namespace, signal);
  // Runner pools are optional: no note if they cannot be read.
  const { items: runnerPools = [] } = await listIfAllowed(cluster, runnerPool.resource, { signal });
  const { subject, others } = resolveName(name, { ...state, runnerPools }, namespace);
  const { metadata } = subject.object;
  const clusters = new Map((await readClusters(cluster, signal)).map((each) => [keyOf(each.metadata), each]));
  const { relatedUIDs = [], ...rest } = explanationOf(subject, { ...state, clusters, managerFlags });
  const also = others.length > 0 ? [`Other objects of that name: ${others.map(nameOf).join(', ')}.`] : [];
  return {
    schema: 'tartan.explain/v1',
    at: timestamp(state.now),
    subject: { kind: subject.kind, namespace: metadata.namespace ?? null, name: metadata.name },
    ...rest,
    events: await eventsOf(cluster, [metadata.uid, ...relatedUIDs], signal),
    notes: [...also, ...state.notes],
  };
};

/** Machines of other namespaces may have reserved Macs, so all namespaces are read if permitted. */
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
    const state = await readClusterState(cluster, { namespace }, signal);
    return {
      ...state,
      notes: [
        ...state.notes,
        `You may not read machines outside the namespace ${namespace}: the Macs that they have reserved are unknown.`,
      ],
    };
  }
};

const explanationOf = ({ kind, object }: Subject, input: ExplainInput): Explanation => {
  switch (kind) {
    case 'machine':
      return explainMachine(object, input);
    case 'host':
      return explainHost(object, input);
    case 'node':
      return explainNode(object, input);
    case 'pod':
      return explainPod(object, input);
    case 'fleet':
      return explainFleet(object, input);
    case 'runnerpool':
      return explainRunnerPool(object, input);
  }
};

/** Cluster API may serve either version, or not be installed. */
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
