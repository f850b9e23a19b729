import { createInformer, createLogger, type Informer, type InformerOptions, type KubeObject } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';

/** Changes come in bursts: a Mac that joins changes its machine, its MacHost and its Node. */
const burstMs = 250;

/** Reports failures only in `lastError`. */
export const createSilentInformer = <T extends KubeObject>(
  { client, clock }: { readonly client: InformerOptions<T>['client']; readonly clock: Clock },
  which: Pick<InformerOptions<T>, 'resource' | 'namespace' | 'labelSelector'>,
): Informer<T> =>
  createInformer({
    client,
    clock,
    random: Math.random,
    log: createLogger({ write: () => {}, clock, level: 'error' }),
    ...which,
  });

type AnyInformer = Pick<Informer<KubeObject>, 'hasSynced' | 'lastError' | 'synced' | 'run'> & {
  subscribe(listener: () => void): () => void;
};

/** Calls `update` once all informers have synced, after each change and every `everyMs`, until the signal fires. */
export const watchInformers = async (
  clock: Clock,
  informers: readonly AnyInformer[],
  { update, everyMs }: { readonly update: (error: Error | undefined) => void; readonly everyMs: number | undefined },
  signal: AbortSignal,
): Promise<void> => {
  let cancelTimer: (() => void) | undefined;
  let isScheduled = false;
  const flush = (): void => {
    cancelTimer?.();
    cancelTimer = everyMs === undefined ? undefined : clock.after(everyMs, flush);
    isScheduled = false;
    if (signal.aborted || informers.some(({ hasSynced }) => !hasSynced)) return;
    update(informers.find(({ lastError }) => lastError !== undefined)?.lastError);
  };
  const onChange = (): void => {
    if (isScheduled) return;
    isScheduled = true;
    cancelTimer?.();
    cancelTimer = clock.after(burstMs, flush);
  };
  for (const informer of informers) {
    informer.subscribe(onChange);
    // An empty cluster has no changes.
    void informer.synced.then(onChange);
  }
  await Promise.all(informers.map((informer) => informer.run(signal)));
  cancelTimer?.();
};
