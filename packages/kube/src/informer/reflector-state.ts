import { isKubeError, KubeError } from '../errors/kube-error.ts';
import { isNewerResourceVersion } from '../objects/object.ts';
import { backoffMs } from '../workqueue/rate-limiter.ts';

/** The state of list and watch. */
export type ReflectorState = Listing | Watching | BackingOff | Stopped;

/** The failures, kept in every state. */
interface FailureState {
  /** Consecutive failures: determine the next delay. */
  failures: number;
  /** The latest failure; undefined after the next success. */
  error: Error | undefined;
}

/**
 * A list request is running, because there is no version to watch from: at the start, or after the version expired. Goes to
 * `watching` when the list is complete, to `backingOff` when it fails.
 */
interface Listing extends FailureState {
  kind: 'listing';
}

/**
 * One watch connection, from its start to its end. Each connection is a new state.
 * Goes to `watching` (a new connection) when the server ends it normally or it is inactive, to `backingOff` when it fails or the version
 * cannot be used: a server that restarts ends all watches at once, and lists cost it far more than watches. To `listing` only when it was
 * inactive from its start, which each watch notices at a moment of its own.
 */
export interface Watching extends FailureState {
  kind: 'watching';
  /** The cache includes everything up to this version; the next connection resumes here. */
  version: string;
  /** Start of this connection, monotonic clock. */
  since: number;
  /** Whether this connection delivered an event or a bookmark. */
  receivedAny: boolean;
}

/**
 * Waits before the next request.
 * Goes to `watching` when there is a version to resume from, else to `listing`.
 */
export interface BackingOff extends FailureState {
  kind: 'backingOff';
  delayMs: number;
  version: string | undefined;
}

/** The signal of `run` has fired. Final. */
interface Stopped extends FailureState {
  kind: 'stopped';
}

/** Inputs of the state machine. */
export type ReflectorEvent =
  /** A complete list is cached. */
  | { type: 'listed'; version: string }
  /** An event or a bookmark was applied; `version` is its own. */
  | { type: 'received'; version: string }
  /** The server ended the watch without an error. */
  | { type: 'ended' }
  /** No event or bookmark for so long that the connection counts as dead. */
  | { type: 'inactive' }
  /** The list or the watch failed. */
  | { type: 'failed'; error: Error }
  /** The backoff is over. */
  | { type: 'backedOff' }
  | { type: 'stopped' };

export const initialState: ReflectorState = { kind: 'listing', failures: 0, error: undefined };

interface TransitionContext {
  /** Monotonic clock. */
  now: number;
  /** Uniform in [0, 1). */
  jitter: number;
}

/** Backs off after a watch shorter than this: reconnecting at once would be a busy loop against an unhealthy server. */
const minWatchMs = 1000;

/**
 * The server can never serve a watch from this version: it was compacted (410), or is in the future, because etcd was restored from
 * a backup. Only a relist helps.
 */
export const isVersionUnusable = (error: Error): boolean =>
  isKubeError(error, 'expired') ||
  (isKubeError(error, 'timeout') && error.causes.some(({ reason }) => reason === 'ResourceVersionTooLarge'));

const listing = ({ failures, error }: FailureState): Listing => ({ kind: 'listing', failures, error });

const watching = (version: string, now: number, { failures, error }: FailureState): Watching => ({
  kind: 'watching',
  version,
  since: now,
  receivedAny: false,
  failures,
  error,
});

/** The server's Retry-After is a minimum. */
const backingOff = (version: string | undefined, failure: FailureState, { jitter }: TransitionContext): BackingOff => {
  const asked = (isKubeError(failure.error) && failure.error.retryAfterMs) || 0;
  return {
    kind: 'backingOff',
    delayMs: Math.max(asked, retryDelayMs(version === undefined ? 'list' : 'resume', failure.failures, jitter)),
    version,
    ...failure,
  };
};

const afterFailure = (
  version: string | undefined,
  before: number,
  error: Error,
  context: TransitionContext,
): BackingOff => backingOff(isVersionUnusable(error) ? undefined : version, { failures: before + 1, error }, context);

const fromListing = (state: Listing, event: ReflectorEvent, context: TransitionContext): ReflectorState => {
  if (event.type === 'failed') return afterFailure(undefined, state.failures, event.error, context);
  if (event.type !== 'listed') return state;
  return watching(event.version, context.now, { failures: state.failures, error: undefined });
};

const fromWatching = (state: Watching, event: ReflectorEvent, context: TransitionContext): ReflectorState => {
  const lasted = context.now - state.since;
  const failures = lasted >= healthyMs ? 0 : state.failures;
  const reconnect = (): Watching => watching(state.version, context.now, { ...state, failures });
  if (event.type === 'received') {
    const version = isNewerResourceVersion(event.version, state.version) ? event.version : state.version;
    return { ...state, version, receivedAny: true, error: undefined };
  }
  if (event.type === 'failed') return afterFailure(state.version, failures, event.error, context);
  if (event.type === 'ended') {
    if (lasted >= minWatchMs) return reconnect();
    const error = new KubeError('unreachable', 'The server ended the watch as soon as it had begun.');
    return afterFailure(state.version, failures, error, context);
  }
  // Without any event, the connection may wait for a version that a restored server will not reach for years.
  if (event.type === 'inactive') return state.receivedAny ? reconnect() : listing({ ...state, failures });
  return state;
};

const fromBackingOff = (state: BackingOff, event: ReflectorEvent, { now }: TransitionContext): ReflectorState => {
  if (event.type !== 'backedOff') return state;
  return state.version === undefined ? listing(state) : watching(state.version, now, state);
};

/** Total: an event that does not apply leaves the state unchanged. */
export const nextState = (state: ReflectorState, event: ReflectorEvent, context: TransitionContext): ReflectorState => {
  if (event.type === 'stopped') return { kind: 'stopped', failures: state.failures, error: state.error };
  if (state.kind === 'listing') return fromListing(state, event, context);
  if (state.kind === 'watching') return fromWatching(state, event, context);
  if (state.kind === 'backingOff') return fromBackingOff(state, event, context);
  return state;
};

/** A watch this long resets the count: its own failure is the first again. */
export const healthyMs = 30_000;

/** In milliseconds. client-go waits 800 ms for both, but a watch from a known version costs the server far less than a list. */
const baseDelay = { resume: 400, list: 800 };

/** With the random part, 30 s: how long a cache is stale at most after the server is back. */
const maxMs = 15_000;

/**
 * Doubles with each failure, and up to as much again is random (`jitter` in [0, 1)), as in client-go: watches that ended together list at
 * moments spread over 800 ms and more.
 */
export const retryDelayMs = (next: keyof typeof baseDelay, failures: number, jitter: number): number =>
  backoffMs({ baseMs: baseDelay[next], maxMs }, failures) * (1 + jitter);
