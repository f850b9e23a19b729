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

/** One sweep for all zones: a failed check stops it for all of them. */
const sweepKey = 'sweep';

/**
 * Finds Macs that are in no pool and that no machine knows (E2), reports them, and, if allowed, releases them (E4). The MacHost controller
 * decides which are stranded; the sweep acts on it, on the leader only.
 * Needs: get, list, watch, patch of machosts; get, list of machines and of clusters; create, patch of events.
 */
export const createSweep = (options: SweepOptions): Controller => {
  const { macHosts, policy, intervalMs, clock, log, events } = options;
  /** The last message for each, by UID. In memory only: a restart repeats it once. */
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

/** Also between two sweeps, so that the gauge is current. */
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

/** By name, as a cache has no order. */
const listStranded = (macHosts: Listers['macHosts']): Host[] =>
  macHosts.byIndex('state', 'stranded').sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));

const pruneReported = (said: Map<string, string>, stranded: readonly Host[]): void => {
  const current = new Set(stranded.map(({ metadata }) => metadata.uid));
  for (const uid of said.keys()) if (!current.has(uid)) said.delete(uid);
};
