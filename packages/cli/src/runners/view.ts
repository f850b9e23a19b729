import { keyOf } from '@tartan/kube';
import { timestamp } from '@tartan/kube/clock';
import { age, ageSince } from '../output/age.ts';
import type { Cell, Table } from '../output/table.ts';
import type { Tone } from '../output/terminal-text.ts';
import type { Page, View } from '../output/view.ts';
import { finishedRowsOf, type PodRow, podRowOf, type PoolRow, poolStateOf, type RunnersDocument } from './document.ts';
import { type Pool, runnersSource, type RunnersState } from './read-runners.ts';

/** Pools of runners; with the name of one, also its Pods. */
export const runnersView = (name: string | undefined): View<RunnersDocument, RunnersState> => ({
  source: runnersSource(name),
  documentOf: (runners) => documentOf(runners, name),
  pageOf: (document) => runnersPage(document, name),
  // A script that asks for a pool that is not there must not take that for an idle one.
  exitCode: ({ pools }) => (name !== undefined && pools.length === 0 ? 1 : 0),
});

const documentOf = ({ now, pools, pods, notes }: RunnersState, name: string | undefined): RunnersDocument => {
  const shown = (pools ?? [])
    .filter(({ metadata }) => name === undefined || metadata.name === name)
    .sort((a, b) => (keyOf(a.metadata) < keyOf(b.metadata) ? -1 : 1));
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
  'This cluster knows no RunnerPool, so there are no runners to show. Install them with the chart (helm upgrade --set runnersController.enabled=true; docs/runners.md), or look at another cluster with --context.';

const poolRowOf = (pool: Pool): PoolRow => {
  const { metadata, spec, status } = pool;
  const { state, why, also } = poolStateOf(pool);
  return {
    namespace: metadata.namespace ?? '',
    pool: metadata.name,
    fleet: spec.fleetSelector,
    image: spec.image,
    github: spec.github?.organization ?? spec.github?.repository ?? null,
    wanted: spec.replicas,
    alive: status?.replicas ?? null,
    warm: status?.warm ?? null,
    busy: status?.busy ?? null,
    retiring: status?.retiring ?? null,
    stale: status?.stale ?? null,
    stuck: status?.stuck ?? null,
    stuckSince: status?.oldestStuckSince ?? null,
    queue: status?.queue
      ? {
          jobs: status.queue.jobs,
          oldestSince: status.queue.oldestSince ?? null,
          observedAt: status.queue.observedAt,
        }
      : null,
    reaped: status?.reaped ?? null,
    state,
    why,
    also: [...also],
  };
};

/** What people see: a line for each pool; of a pool that is named, its Pods and those that ended last. Pure. */
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
  const now = Date.parse(at);
  const severalNamespaces = new Set(pools.map(({ namespace }) => namespace)).size > 1;
  const head = ['POOL', 'WANTED', 'WARM', 'BUSY', 'RETIRING', 'STALE', 'STUCK', 'QUEUE', 'OLDEST', 'STATE', 'WHY'];
  return {
    head: severalNamespaces ? ['NAMESPACE', ...head] : head,
    rows: pools.map((pool) => ({
      key: `pool ${pool.namespace}/${pool.pool}`,
      cells: [
        ...(severalNamespaces ? [pool.namespace] : []),
        pool.pool,
        String(pool.wanted),
        count(pool.warm),
        count(pool.busy),
        count(pool.retiring),
        count(pool.stale),
        { text: count(pool.stuck), tone: pool.stuck ? 'bad' : undefined },
        count(pool.queue?.jobs ?? null),
        { text: ageSince(pool.queue?.oldestSince, now), passing: true },
        { text: pool.state, tone: tones[pool.state] ?? 'warn' },
        `${pool.why}${pool.also.length > 0 ? ` Also: ${pool.also.join(', ')}.` : ''}`,
      ],
    })),
  };
};

const count = (value: number | null): string => (value === null ? '?' : String(value));

const jobTones: Readonly<Partial<Record<PodRow['job'], Tone>>> = { started: 'good', unknown: 'warn' };

const podTable = ({ pods, at }: RunnersDocument): Table => {
  const now = Date.parse(at);
  return {
    head: ['POD', 'NODE', 'PHASE', 'JOB', 'RUNNER', 'RETIRED', 'IMAGE', 'AGE'],
    rows: (pods ?? []).map((pod) => ({
      key: `pod ${pod.name}`,
      cells: [
        pod.name,
        pod.node ?? '',
        phaseCell(pod),
        { text: pod.job, tone: jobTones[pod.job] },
        pod.runnerID === null ? '' : String(pod.runnerID),
        { text: ageSince(pod.retiredSince, now), passing: true },
        pod.stale ? { text: 'stale', tone: 'warn' } : '',
        { text: ageSince(pod.createdAt, now), passing: true },
      ],
    })),
  };
};

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
      each.exitCode === null ? '' : String(each.exitCode),
      each.reason ?? '',
      tookText(each.startedAt, each.finishedAt),
      { text: ageSince(each.finishedAt, Date.parse(at)), passing: true },
    ],
  })),
});

const tookText = (startedAt: string | null, finishedAt: string | null): string =>
  startedAt === null || finishedAt === null ? '' : age(Date.parse(finishedAt) - Date.parse(startedAt));

/** GitHub is asked about once a minute; what is much older is no answer any more. */
const oldQueueMs = 5 * 60_000;

const conclusionOf = (document: RunnersDocument, name: string | undefined): string[] => {
  const { pools, pods, notes, at } = document;
  if (pools.length === 0) {
    if (name !== undefined) return [`There is no RunnerPool ${name}. tartan runners shows those there are.`];
    // A note says more where the kind itself is missing.
    return notes.length > 0
      ? []
      : [
          'There is no RunnerPool here: make one (docs/runners.md), or name another namespace with --namespace. kubectl explain runnerpool.spec says what can be set.',
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
        `The queue of ${pool} was seen ${ageSince(queue?.observedAt, Date.parse(at))} ago: GitHub, or the controller, has not told since.`,
    ),
  ];
};
