import { buildEvent } from '@tartan/api';
import {
  type Controller,
  type ControllerOptions,
  createController,
  type Reconciler,
  requeueAfter,
  type Source,
} from '@tartan/kube';
import type { Host, Informers, Listers } from '../controller-deps.ts';
import { readHostPauseReasons } from '../pause/pauses.ts';
import { isStranded, reclaim, type ReclaimDeps, strandedFacts } from './act.ts';
import { strandedVerdict } from './decide.ts';

interface SweepOptions extends ReclaimDeps, Pick<Informers, 'macHosts'>, Pick<ControllerOptions, 'metrics'> {
  readonly intervalMs: number;
}

/** There is one sweep over all zones: one that cannot look stops for all of them. */
const sweepKey = 'sweep';

/**
 * Finds Macs that are in no pool and that no machine knows (E2), tells of them, and, where it is allowed to, sends them back (E4). What is
 * stranded is for the controller of MacHosts to say; this one acts on it, on the leader only.
 * Needs: get, list, watch, patch of machosts; get, list of machines and of clusters; create, patch of events.
 */
export const createSweep = (options: SweepOptions): Controller => {
  const { macHosts, policy, intervalMs, clock, log, events } = options;
  /** What was last said of each, by UID. Memory only: who starts anew says it once more. */
  const reported = new Map<string, string>();

  const reconcile: Reconciler = async (_key, signal) => {
    const stranded = listStranded(macHosts);
    pruneReported(reported, stranded);
    for (const host of stranded) {
      const pauses = await readHostPauseReasons(options, host, { signal });
      const verdict = strandedVerdict(strandedFacts(host, pauses), policy, clock.now());
      if (verdict.kind === 'leave') {
        if (reported.get(host.metadata.uid) !== verdict.message)
          events.event(host, buildEvent('Stranded', verdict.message));
        reported.set(host.metadata.uid, verdict.message);
        continue;
      }
      const why = await reclaim(options, host, signal);
      if (why !== undefined) log.info('Left a Mac alone that was called stranded', { host: host.metadata.name, why });
    }
    return requeueAfter(intervalMs);
  };

  return createController({
    ...options,
    name: 'sweep',
    reconcile,
    sources: [startSource, strandedGaugeSource(options)],
  });
};

const startSource: Source = (enqueue) => {
  enqueue(sweepKey);
  return () => {};
};

/** Between two sweeps as well: whoever looks at the gauge waits for no interval. */
const strandedGaugeSource =
  ({ macHosts, figures }: Pick<SweepOptions, 'macHosts' | 'figures'>): Source =>
  () => {
    const count = (): void => figures.stranded(listStranded(macHosts).length);
    count();
    const end = macHosts.subscribe((change) => {
      const before = change.type !== 'added' && isStranded(change.previous);
      const after = change.type !== 'removed' && isStranded(change.object);
      if (before !== after) count();
    });
    return () => {
      end();
      figures.stranded(undefined);
    };
  };

/** By name: the order of a cache is no order. */
const listStranded = (macHosts: Listers['macHosts']): Host[] =>
  macHosts
    .list()
    .filter(isStranded)
    .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));

const pruneReported = (said: Map<string, string>, stranded: readonly Host[]): void => {
  const current = new Set(stranded.map(({ metadata }) => metadata.uid));
  for (const uid of said.keys()) if (!current.has(uid)) said.delete(uid);
};
