import { keyOf } from '@tartan/kube';
import { timestamp } from '@tartan/kube/clock';
import type { View } from '../show/view.ts';
import type { PoolRow, RunnersDocument } from './document.ts';
import { type Pool, type Runners, runnersSight } from './observe-runners.ts';
import { runnersPage } from './page.ts';
import { finishedRowsOf, podRowOf } from './pod-row.ts';
import { poolStateOf } from './pool-state.ts';

/** Pools of runners; with the name of one, also its Pods. */
export const runnersView = (name: string | undefined): View<RunnersDocument, Runners> => ({
  sight: runnersSight(name),
  documentOf: (runners) => documentOf(runners, name),
  pageOf: (document) => runnersPage(document, name),
  // A script that asks for a pool that is not there must not take that for an idle one.
  exitCode: ({ pools }) => (name !== undefined && pools.length === 0 ? 1 : 0),
});

const documentOf = ({ now, pools, pods, notes }: Runners, name: string | undefined): RunnersDocument => {
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
