import type { List, ListOptions, WatchEvent, WatchOptions } from '../client/client.ts';
import type { Clock, Random } from '../clock/clock.ts';
import { sleep } from '../clock/sleep.ts';
import type { KubeObject, Live } from '../objects/object.ts';
import type { Resource } from '../objects/resource.ts';
import type { Backoff } from './backoff.ts';
import { nextState } from './next-state.ts';
import type { Replica } from './replica.ts';
import { readWatch } from './watch-connection.ts';
import { beginning, type Watching, type WatchOccurrence, type WatchState } from './watch-state.ts';

/** The part of a `Client` that a cache of one kind needs. */
export interface ListAndWatch<T extends KubeObject> {
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

/** Which objects of the kind. */
export interface Selection {
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
}

export interface WatchLoop<T extends KubeObject> {
  client: ListAndWatch<T>;
  resource: Resource<T>;
  selection: Selection;
  replica: Replica<T>;
  /** What is held of an object; undefined for one that is not to be held. */
  transform(object: Live<T>): Live<T> | undefined;
  clock: Clock;
  random: Random;
  backoff: Backoff;
  inactivityMs: number;
  watchTimeoutSeconds: number;
  /** Told of every move, also of those that lead back to the same kind of state. */
  onMove(to: WatchState, occurrence: WatchOccurrence): void;
}

const versionOf = <T extends KubeObject>(event: WatchEvent<T>): string =>
  event.type === 'BOOKMARK' ? event.resourceVersion : event.object.metadata.resourceVersion;

const failed = (thrown: unknown): WatchOccurrence => ({
  type: 'failed',
  error: thrown instanceof Error ? thrown : new Error(String(thrown)),
});

/**
 * Does what each state asks for and reports what came of it, until `signal` fires. All decisions are those of `nextState`.
 * Guarantees: when it resolves, no request, stream or timer of its own is left.
 * Assumptions: the client ends a call soon after that call's signal has fired.
 */
export const followServer = async <T extends KubeObject>(loop: WatchLoop<T>, signal: AbortSignal): Promise<void> => {
  const { client, resource, selection, replica, transform, clock, random, backoff } = loop;
  let state = beginning;
  const move = (occurrence: WatchOccurrence): void => {
    state = nextState(state, occurrence, { now: clock.monotonic(), jitter: random(), backoff });
    loop.onMove(state, occurrence);
  };

  const list = async (): Promise<WatchOccurrence> => {
    const { items, resourceVersion } = await client.list(resource, {
      ...selection,
      deadlineMs: listDeadlineMs,
      pageSize,
      transform,
      signal,
    });
    if (!signal.aborted) replica.replace(items);
    return { type: 'listed', version: resourceVersion };
  };

  const watch = async ({ version }: Watching): Promise<WatchOccurrence> => {
    // Spread over twice the time, so that the watches of a fleet that started together do not end together.
    const timeoutSeconds = Math.round(loop.watchTimeoutSeconds * (1 + random()));
    const type = await readWatch<WatchEvent<T>>({
      open: (closing) =>
        client.watch(resource, { ...selection, resourceVersion: version, timeoutSeconds, signal: closing }),
      take: (event) => {
        if (event.type !== 'BOOKMARK' && state.kind === 'watching') replica.receive(event, state.version);
        move({ type: 'heard', version: versionOf(event) });
      },
      clock,
      inactivityMs: loop.inactivityMs,
      signal,
    });
    return { type };
  };

  const act = async (): Promise<WatchOccurrence> => {
    if (state.kind === 'listing') return list();
    if (state.kind === 'watching') return watch(state);
    if (state.kind === 'waiting') await sleep(clock, state.delayMs, signal);
    return { type: 'waited' };
  };

  if (signal.aborted) move({ type: 'stopped' });
  while (state.kind !== 'stopped') {
    const occurrence = await act().catch(failed);
    move(signal.aborted ? { type: 'stopped' } : occurrence);
  }
};
