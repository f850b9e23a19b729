import type { List, ListOptions, Selection, WatchEvent, WatchOptions } from '../client/client.ts';
import { type Clock, type Random, sleep } from '../clock/clock.ts';
import type { KubeObject, Live, Resource } from '../objects/object.ts';
import { initialState, nextState, type ReflectorEvent, type ReflectorState, type Watching } from './reflector-state.ts';
import type { StoreUpdater } from './store-updater.ts';

/** The part of a `Client` that a cache of one kind needs. */
export interface ListerWatcher<T extends KubeObject> {
  list(resource: Resource<T>, options: ListOptions<T>): Promise<List<T>>;
  watch(resource: Resource<T>, options: WatchOptions): AsyncIterable<WatchEvent<T>>;
}

/** For all pages together: a large collection over a slow line takes longer than a single call may. */
const listDeadlineMs = 120_000;

/**
 * A page is text and objects at once, and some pages more before they are collected: of 20,000 Pods of 11 KB, pages of 500 make a process
 * 100 MB larger than pages of 100, which take no longer.
 */
const pageSize = 100;

/** A watch that gives neither event nor bookmark for this long is taken for dead. Bookmarks come about once a minute. */
const inactivityMs = 4 * 60_000;
/** The server is asked to end each connection after this time, or up to twice of it. */
const watchTimeoutSeconds = 290;

interface ReflectorOptions<T extends KubeObject> {
  client: ListerWatcher<T>;
  resource: Resource<T>;
  selection: Selection;
  updater: StoreUpdater<T>;
  /** What is held of an object; undefined for one that is not to be held. */
  transform(object: Live<T>): Live<T> | undefined;
  clock: Clock;
  random: Random;
  /** Called for every transition, also those that lead back to the same kind of state. */
  onTransition(to: ReflectorState, event: ReflectorEvent): void;
}

const versionOf = <T extends KubeObject>(event: WatchEvent<T>): string =>
  event.type === 'BOOKMARK' ? event.resourceVersion : event.object.metadata.resourceVersion;

const failed = (thrown: unknown): ReflectorEvent => ({
  type: 'failed',
  error: thrown instanceof Error ? thrown : new Error(String(thrown)),
});

/**
 * Does what each state asks for and reports what came of it, until `signal` fires. All decisions are those of `nextState`.
 * Guarantees: when it resolves, no request, stream or timer of its own is left.
 * Assumptions: the client ends a call soon after that call's signal has fired.
 */
export const runReflector = async <T extends KubeObject>(
  loop: ReflectorOptions<T>,
  signal: AbortSignal,
): Promise<void> => {
  const { client, resource, selection, updater, transform, clock, random } = loop;
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
      transform,
      signal,
    });
    if (!signal.aborted) updater.replace(items);
    return { type: 'listed', version: resourceVersion };
  };

  const watch = async ({ version }: Watching): Promise<ReflectorEvent> => {
    // Spread over twice the time, so that the watches of a fleet that started together do not end together.
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
 * Reads one watch to its end, or until it has been silent for too long, or until `signal` fires.
 * Guarantees: afterwards the stream is closed and no timer is left; nothing is taken in once it has been given up.
 * Assumptions: the stream ends soon after the signal it was opened with has fired; how it ends then (with an error or not) says
 * nothing about the server.
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

/** Notices when nothing has been heard for `limitMs`. */
interface InactivityTimer {
  /** Something came. */
  reset(): void;
  stop(): void;
}

/** Calls `onSilence` once. Hearing costs a look at the clock and no timer: the one timer re-arms itself for what is left. */
export const startInactivityTimer = (clock: Clock, limitMs: number, onSilence: () => void): InactivityTimer => {
  let heardAt = clock.monotonic();
  const look = (): void => {
    const left = limitMs - (clock.monotonic() - heardAt);
    if (left <= 0) onSilence();
    else takeBack = clock.after(left, look);
  };
  let takeBack = clock.after(limitMs, look);
  return {
    reset: () => {
      heardAt = clock.monotonic();
    },
    stop: () => takeBack(),
  };
};
