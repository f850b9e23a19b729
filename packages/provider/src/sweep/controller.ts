import type { MacHost } from '@tartan/api';
import {
  again,
  type Controller,
  type ControllerOptions,
  createController,
  type Live,
  type Reconcile,
  type Source,
  type WatchCache,
} from '@tartan/kube';
import { type Reclaimer, reclaim } from './act.ts';
import { isStranded, strandedFacts } from './observe.ts';
import { strandedHappening } from './status.ts';
import { strandedVerdict } from './verdict.ts';

export interface SweepOptions extends Reclaimer {
  readonly macHosts: WatchCache<MacHost>;
  readonly intervalMs: number;
  readonly metrics?: ControllerOptions['metrics'];
}

/** There is one sweep over all zones: one that cannot look stops for all of them. */
const everything = 'sweep';

/**
 * Finds Macs that are in no pool and that no machine knows (E2), tells of them, and, where it is allowed to, sends them back (E4). What is
 * stranded is for the controller of MacHosts to say; this one acts on it, on the leader only.
 * Needs: get, list, watch, patch of machosts; get, list of machines and of clusters; create, patch of events.
 */
export const createSweep = (options: SweepOptions): Controller => {
  const { macHosts, policy, intervalMs, clock, log, events, metrics } = options;
  /** What was last said of each, by UID. Memory only: who starts anew says it once more. */
  const said = new Map<string, string>();

  const reconcile: Reconcile = async (_key, signal) => {
    const stranded = strandedIn(macHosts);
    forgetOthers(said, stranded);
    for (const host of stranded) {
      const verdict = strandedVerdict(strandedFacts(host), policy, clock.now());
      if (verdict.kind === 'leave') {
        if (said.get(host.metadata.uid) !== verdict.message) events.event(host, strandedHappening(verdict));
        said.set(host.metadata.uid, verdict.message);
        continue;
      }
      const outcome = await reclaim(options, host, signal);
      if (outcome.kind === 'aborted') return { kind: 'failed', error: outcome.error };
      if (outcome.kind === 'skipped')
        log.info('Left a Mac alone that was called stranded', { host: host.metadata.name, why: outcome.why });
    }
    return again(intervalMs);
  };

  return createController({
    name: 'sweep',
    reconcile,
    sources: [onceAtTheStart, countStranded(options)],
    clock,
    log,
    ...(metrics && { metrics }),
  });
};

const onceAtTheStart: Source = (enqueue) => {
  enqueue(everything);
  return () => {};
};

/** Between two sweeps as well: whoever looks at the gauge waits for no interval. */
const countStranded =
  ({ macHosts, figures }: Pick<SweepOptions, 'macHosts' | 'figures'>): Source =>
  () => {
    const count = (): void => figures.stranded(strandedIn(macHosts).length);
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
const strandedIn = (macHosts: Pick<WatchCache<MacHost>, 'list'>): Live<MacHost>[] =>
  macHosts
    .list()
    .filter(isStranded)
    .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));

const forgetOthers = (said: Map<string, string>, stranded: readonly Live<MacHost>[]): void => {
  const current = new Set(stranded.map(({ metadata }) => metadata.uid));
  for (const uid of said.keys()) if (!current.has(uid)) said.delete(uid);
};
