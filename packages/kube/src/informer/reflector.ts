import type { List, ListOptions, Selection, WatchEvent, WatchOptions } from '../client/client.ts';
import { type Clock, type Random, sleep } from '../clock/clock.ts';
import type { KubeObject, Resource } from '../objects/object.ts';
import { initialState, nextState, type ReflectorEvent, type ReflectorState, type Watching } from './reflector-state.ts';
import type { StoreUpdater } from './store-updater.ts';

/** The part of `Client` that a reflector needs. */
export interface ListerWatcher<T extends KubeObject> {
  list(resource: Resource<T>, options: ListOptions<T>): Promise<List<T>>;
  watch(resource: Resource<T>, options: WatchOptions): AsyncIterable<WatchEvent<T>>;
}

/** For all pages together: a large collection over a slow connection takes longer than one call's deadline. */
const listDeadlineMs = 120_000;

/**
 * A page is in memory as text and as objects, and several pages are before they are garbage-collected: with 20,000 Pods of 11 KB, pages
 * of 500 need 100 MB more than pages of 100, which take no longer.
 */
const pageSize = 100;

/** A watch without event or bookmark for this long counts as dead. Bookmarks come about once a minute. */
const inactivityMs = 4 * 60_000;
/** The watch timeout requested from the server is between this and twice this. */
const watchTimeoutSeconds = 290;

interface ReflectorOptions<T extends KubeObject> {
  client: ListerWatcher<T>;
  resource: Resource<T>;
  selection: Selection & Pick<WatchOptions, 'mustContain'>;
  updater: StoreUpdater<T>;
  clock: Clock;
  random: Random;
  /** Called for every transition, also to the same kind of state. */
  onTransition(to: ReflectorState, event: ReflectorEvent): void;
}

const versionOf = <T extends KubeObject>(event: WatchEvent<T>): string =>
  event.type === 'BOOKMARK' ? event.resourceVersion : event.object.metadata.resourceVersion;

const failed = (thrown: unknown): ReflectorEvent => ({
  type: 'failed',
  error: thrown instanceof Error ? thrown : new Error(String(thrown)),
});

/**
 * Executes each state and feeds the result to `nextState`, which makes all decisions, until `signal` fires.
 * Guarantees: when it resolves, none of its requests, streams or timers is left.
 * Assumptions: the client ends a call soon after the call's signal fires.
 */
export const runReflector = async <T extends KubeObject>(
  loop: ReflectorOptions<T>,
  signal: AbortSignal,
): Promise<void> => {
  const { client, resource, selection, updater, clock, random } = loop;
  let state = initialState;
  const move = (event: ReflectorEvent): void => {
    state = nextState(state, event, { now: clock.monotonic(), jitter: random() });
    loop.onTransition(state, event);
  };

  const list = async (): Promise<ReflectorEvent> => {
    const { items, resourceVersion } = await client.list(resource, {
      ...selection,
      deadlineMs: listDeadlineMs,
      pageSize,
      transform: updater.keptOf,
      signal,
    });
    if (!signal.aborted) updater.replace(items);
    return { type: 'listed', version: resourceVersion };
  };

  const watch = async ({ version }: Watching): Promise<ReflectorEvent> => {
    // Randomised, so that watches that started together do not end together.
    const timeoutSeconds = Math.round(watchTimeoutSeconds * (1 + random()));
    const type = await readWatch<WatchEvent<T>>({
      open: (closing) =>
        client.watch(resource, { ...selection, resourceVersion: version, timeoutSeconds, signal: closing }),
      take: (event) => {
        if (event.type !== 'BOOKMARK' && state.kind === 'watching') updater.apply(event, state.version);
        move({ type: 'received', version: versionOf(event) });
      },
      clock,
      inactivityMs,
      signal,
    });
    return { type };
  };

  const act = async (): Promise<ReflectorEvent> => {
    if (state.kind === 'listing') return list();
    if (state.kind === 'watching') return watch(state);
    if (state.kind === 'backingOff') await sleep(clock, state.delayMs, signal);
    return { type: 'backedOff' };
  };

  if (signal.aborted) move({ type: 'stopped' });
  while (state.kind !== 'stopped') {
    const event = await act().catch(failed);
    move(signal.aborted ? { type: 'stopped' } : event);
  }
};

/**
 * Reads one watch until it ends, is inactive for too long, or `signal` fires.
 * Guarantees: afterwards the stream is closed and no timer is left; no event is applied after that.
 * Assumptions: the stream ends soon after its signal fires; an error of the stream after that is ignored.
 */
export const readWatch = async <E>({
  open,
  take,
  clock,
  inactivityMs,
  signal,
}: {
  open: (signal: AbortSignal) => AsyncIterable<E>;
  take: (event: E) => void;
  clock: Clock;
  inactivityMs: number;
  signal: AbortSignal;
}): Promise<'ended' | 'inactive'> => {
  const connection = new AbortController();
  const close = (): void => connection.abort();
  const guard = startInactivityTimer(clock, inactivityMs, close);
  signal.addEventListener('abort', close, { once: true });
  try {
    for await (const event of open(connection.signal)) {
      if (connection.signal.aborted) break;
      guard.reset();
      take(event);
    }
  } catch (error) {
    if (!connection.signal.aborted) throw error;
  } finally {
    guard.stop();
    signal.removeEventListener('abort', close);
  }
  return connection.signal.aborted ? 'inactive' : 'ended';
};

/** Detects that `reset` was not called for `limitMs`. */
interface InactivityTimer {
  /** Call for every event. */
  reset(): void;
  stop(): void;
}

/** Calls `onInactive` once. `reset` only reads the clock: the one timer re-arms itself for the remaining time. */
export const startInactivityTimer = (clock: Clock, limitMs: number, onInactive: () => void): InactivityTimer => {
  let lastEventAt = clock.monotonic();
  const check = (): void => {
    const left = limitMs - (clock.monotonic() - lastEventAt);
    if (left <= 0) onInactive();
    else cancelTimer = clock.after(left, check);
  };
  let cancelTimer = clock.after(limitMs, check);
  return {
    reset: () => {
      lastEventAt = clock.monotonic();
    },
    stop: () => cancelTimer(),
  };
};
