import { timestamp } from '@tartan/kube/clock';
import { byKey } from '../cluster/macs.ts';
import { age, ageCell, ageSince } from '../output/age.ts';
import { type Cell, type Row, type Table, withNamespaces } from '../output/table.ts';
import type { Tone } from '../output/terminal-text.ts';
import { fill, type Page, type View } from '../output/view.ts';
import {
  finishedRowsOf,
  type PodRow,
  podRowOf,
  type PoolRow,
  poolSchema,
  poolStateOf,
  type RunnersDocument,
} from './document.ts';
import { type Pool, readRunners, type RunnersState } from './read-runners.ts';

export const runnersView = (name: string | undefined): View<RunnersDocument, RunnersState> => ({
  read: (cluster, selection, signal) => readRunners(cluster, { ...selection, pool: name }, signal),
  documentOf: (runners) => documentOf(runners, name),
  pageOf: (document) => runnersPage(document, name),
  // For a script, a missing pool must not look like an idle one.
  exitCode: ({ pools }) => (name !== undefined && pools.length === 0 ? 1 : 0),
});

const documentOf = ({ now, pools, pods, notes }: RunnersState, name: string | undefined): RunnersDocument => {
  const shown = (pools ?? []).filter(({ metadata }) => name === undefined || metadata.name === name).sort(byKey);
  const ownerOf = (namespace: string | undefined): Pool | undefined =>
    shown.find(({ metadata }) => metadata.namespace === namespace);
  return {
    schema: 'tartan.runners/v1',
    at: timestamp(now),
    pools: shown.map(poolRowOf),
    pods:
      pods?.map((pod) => podRowOf(pod, ownerOf(pod.metadata.namespace))).sort((a, b) => (a.name < b.name ? -1 : 1)) ??
      null,
    finished: name === undefined ? null : shown.flatMap(finishedRowsOf),
    notes: [...(pools === undefined ? [notInstalled] : []), ...notes],
  };
};

const notInstalled =
  'The kind RunnerPool is not installed in this cluster. Install it with the chart (helm upgrade --set runnersController.enabled=true; docs/runners.md), or choose another cluster with --context.';

const poolRowOf = (pool: Pool): PoolRow => {
  const { metadata, spec, status } = pool;
  const { state, why, also } = poolStateOf(pool);
  return fill(poolSchema, {
    ...status,
    namespace: metadata.namespace ?? '',
    pool: metadata.name,
    fleet: spec.fleetSelector,
    image: spec.image,
    github: spec.github?.organization ?? spec.github?.repository,
    wanted: spec.replicas,
    alive: status?.replicas,
    stuckSince: status?.oldestStuckSince,
    state,
    why,
    also: [...also],
  });
};

export const runnersPage = (document: RunnersDocument, name: string | undefined): Page => ({
  tables: [poolTable(document), podTable(document), finishedTable(document)],
  lines: [...conclusionOf(document, name), ...document.notes],
});

const tones: Readonly<Partial<Record<PoolRow['state'], Tone>>> = {
  ready: 'good',
  'no github': 'bad',
  'github away': 'bad',
  starved: 'bad',
  stuck: 'bad',
  unseen: 'bad',
};

const poolTable = ({ pools, at }: RunnersDocument): Table => {
  const head = ['POOL', 'WANTED', 'WARM', 'BUSY', 'RETIRING', 'STALE', 'STUCK', 'QUEUE', 'OLDEST', 'STATE', 'WHY'];
  const rows = pools.map(
    (pool): Row => ({
      key: `pool ${pool.namespace}/${pool.pool}`,
      cells: [
        pool.pool,
        String(pool.wanted),
        count(pool.warm),
        count(pool.busy),
        count(pool.retiring),
        count(pool.stale),
        { text: count(pool.stuck), tone: pool.stuck ? 'bad' : undefined },
        count(pool.queue?.jobs ?? null),
        ageCell(pool.queue?.oldestSince, at),
        { text: pool.state, tone: tones[pool.state] ?? 'warn' },
        `${pool.why}${pool.also.length > 0 ? ` Also: ${pool.also.join(', ')}.` : ''}`,
      ],
    }),
  );
  return withNamespaces(
    { head, rows },
    pools.map(({ namespace }) => namespace),
  );
};

const count = (value: number | null): string => String(value ?? '?');

const jobTones: Readonly<Partial<Record<PodRow['job'], Tone>>> = { started: 'good', unknown: 'warn' };

const podTable = ({ pods, at }: RunnersDocument): Table => ({
  head: ['POD', 'NODE', 'PHASE', 'JOB', 'RUNNER', 'RETIRED', 'IMAGE', 'AGE'],
  rows: (pods ?? []).map((pod) => ({
    key: `pod ${pod.name}`,
    cells: [
      pod.name,
      pod.node ?? '',
      phaseCell(pod),
      { text: pod.job, tone: jobTones[pod.job] },
      String(pod.runnerID ?? ''),
      ageCell(pod.retiredSince, at),
      pod.stale ? { text: 'stale', tone: 'warn' } : '',
      ageCell(pod.createdAt, at),
    ],
  })),
});

const phaseCell = ({ phase, waiting }: PodRow): Cell => ({
  text: waiting === null ? phase : `${phase} (${waiting})`,
  tone: phase === 'Running' ? 'good' : phase === 'Failed' ? 'bad' : 'warn',
});

const finishedTable = ({ finished, at }: RunnersDocument): Table => ({
  head: ['FINISHED', 'NODE', 'JOB', 'CODE', 'REASON', 'TOOK', 'AGO'],
  rows: (finished ?? []).map((each) => ({
    key: `finished ${each.name}`,
    cells: [
      each.name,
      each.node ?? '',
      each.hadJob === null ? 'unknown' : each.hadJob ? 'yes' : 'none',
      String(each.exitCode ?? ''),
      each.reason ?? '',
      tookText(each.startedAt, each.finishedAt),
      ageCell(each.finishedAt, at),
    ],
  })),
});

const tookText = (startedAt: string | null, finishedAt: string | null): string =>
  startedAt === null || finishedAt === null ? '' : age(Date.parse(finishedAt) - Date.parse(startedAt));

/** The controller reads GitHub about once a minute. */
const oldQueueMs = 5 * 60_000;

const conclusionOf = (document: RunnersDocument, name: string | undefined): string[] => {
  const { pools, pods, notes, at } = document;
  if (pools.length === 0) {
    if (name !== undefined) return [`There is no RunnerPool ${name}. tartan runners lists all.`];
    // A note says that the kind is missing.
    return notes.length > 0
      ? []
      : [
          'There is no RunnerPool. Create one (docs/runners.md; kubectl explain runnerpool.spec), or choose another namespace with --namespace.',
        ];
  }
  const old = pools.filter(({ queue }) => queue !== null && Date.parse(at) - Date.parse(queue.observedAt) > oldQueueMs);
  return [
    ...(name === undefined
      ? ['The Pods of a pool: tartan runners POOL. Why something is as it is: tartan explain NAME.']
      : pods?.length === 0
        ? ['The pool has no Pods now.']
        : []),
    ...old.map(
      ({ pool, queue }) =>
        `The queue of ${pool} was read ${ageSince(queue?.observedAt, Date.parse(at))} ago: GitHub or the controller has not answered since.`,
    ),
  ];
};
