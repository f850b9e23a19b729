import {
  type Client,
  createInformer,
  createLogger,
  type Informer,
  type InformerOptions,
  type KubeObject,
  type List,
} from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import type { Cluster, Connection } from './connection.ts';

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

interface Watcher<State> {
  /** Called after the first read and after each change. */
  onChange(state: State): void;
  /** Also called after this time, since ages grow. Undefined: never. */
  readonly everyMs: number | undefined;
}

/**
 * Reads a state, and again after each change of a kind that was listed for it, until the signal fires. A kind that cannot be listed is
 * not watched. A note reports an unreachable server.
 */
export const watchState = async <State extends { readonly notes: readonly string[] }>(
  { client, clock }: Pick<Connection, 'client' | 'clock'>,
  read: (cluster: Cluster) => Promise<State>,
  { onChange, everyMs }: Watcher<State>,
  signal: AbortSignal,
): Promise<void> => {
  const informers: AnyInformer[] = [];
  const lists = new Map<string, () => Promise<unknown>>();
  /** Lists a kind once. Later calls get the objects of its informer, or the same error. */
  const list: Client['list'] = async (resource, { signal: stop, ...scope } = {}) => {
    const key = JSON.stringify([resource.plural, scope]);
    const known = lists.get(key);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- The key names the kind.
    if (known !== undefined) return (await known()) as List<NonNullable<typeof resource.ofType>>;
    const listing = client.list(resource, { ...scope, ...(stop && { signal: stop }) });
    lists.set(key, () => listing);
    const first = await listing;
    const informer = createSilentInformer({ client, clock }, { resource, ...scope });
    informers.push(informer);
    lists.set(key, async () => ({ ...first, items: [...informer.list()] }));
    return first;
  };
  const update = async (): Promise<void> => {
    const state = await read({ clock, client: { ...client, list } });
    const error = informers.find(({ lastError }) => lastError !== undefined)?.lastError;
    onChange(error ? { ...state, notes: [...state.notes, `This may be outdated: ${error.message}`] } : state);
  };
  await update();
  let cancelTimer: (() => void) | undefined;
  let isScheduled = false;
  const flush = (): void => {
    cancelTimer?.();
    cancelTimer = everyMs === undefined ? undefined : clock.after(everyMs, flush);
    isScheduled = false;
    if (!signal.aborted && informers.every(({ hasSynced }) => hasSynced)) void update();
  };
  const schedule = (): void => {
    if (isScheduled) return;
    isScheduled = true;
    cancelTimer?.();
    cancelTimer = clock.after(burstMs, flush);
  };
  for (const informer of informers) {
    informer.subscribe(schedule);
    // An empty cluster has no changes.
    void informer.synced.then(schedule);
  }
  await Promise.all(informers.map((informer) => informer.run(signal)));
  cancelTimer?.();
};
