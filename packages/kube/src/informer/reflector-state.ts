import { isKubeError, KubeError } from '../errors/kube-error.ts';
import { isNewerResourceVersion } from '../objects/object.ts';
import { backoffMs } from '../workqueue/rate-limiter.ts';

/** Where a watch cache stands with its server. */
export type ReflectorState = Listing | Watching | BackingOff | Stopped;

/** What every state remembers of what went wrong. */
interface FailureState {
  /** Failures in a row: decides the next wait. */
  failures: number;
  /** The latest failure; undefined again as soon as something comes through. */
  error: Error | undefined;
}

/**
 * A list is under way. Knows no version to watch from: this is the beginning, or the server no longer serves the version we had.
 * Goes to `watching` when the list is in, to `backingOff` when it fails.
 */
interface Listing extends FailureState {
  kind: 'listing';
}

/**
 * One connection of a watch, from its opening to its end. Each connection is a state of its own.
 * Goes to `watching` (a new connection) when the server ends it in its own time or it falls silent, to `listing` when the version
 * is of no use, to `backingOff` when it fails.
 */
export interface Watching extends FailureState {
  kind: 'watching';
  /** Everything up to here is in the cache: where the next connection goes on. */
  version: string;
  /** When this connection began, by the monotonic clock. */
  since: number;
  /** Whether this connection has given anything, be it a bookmark. */
  receivedAny: boolean;
}

/**
 * Nothing is under way until the wait is over.
 * Goes to `watching` when there is a version to go on from, else to `listing`.
 */
interface BackingOff extends FailureState {
  kind: 'backingOff';
  delayMs: number;
  version: string | undefined;
}

/** `run` has been told to end. Goes nowhere. */
interface Stopped extends FailureState {
  kind: 'stopped';
}

/** What happens to a cache. */
export type ReflectorEvent =
  /** A complete list is in the cache. */
  | { type: 'listed'; version: string }
  /** An event or a bookmark has been taken in; `version` is its own. */
  | { type: 'received'; version: string }
  /** The server ended the watch without complaint. */
  | { type: 'ended' }
  /** Neither event nor bookmark for so long that the connection must be dead. */
  | { type: 'inactive' }
  /** The list or the watch failed. */
  | { type: 'failed'; error: Error }
  /** The wait is over. */
  | { type: 'backedOff' }
  | { type: 'stopped' };

export const initialState: ReflectorState = { kind: 'listing', failures: 0, error: undefined };

interface TransitionContext {
  /** The monotonic clock. */
  now: number;
  /** Uniform in [0, 1). */
  jitter: number;
}

/** A watch that ends sooner is no watch: going on at once would make a busy loop against a server that is unwell. */
const minWatchMs = 1000;

/**
 * The server cannot serve a watch from this version, and will not be able to later: it has forgotten it (410), or has never reached
 * it, because its storage was restored from a backup. Only a new list helps.
 */
const isVersionUnusable = (error: Error): boolean =>
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

/** The wait that the server asks for is a floor, not a ceiling. */
const backingOff = (version: string | undefined, failure: FailureState, { jitter }: TransitionContext): BackingOff => {
  const asked = (isKubeError(failure.error) && failure.error.retryAfterMs) || 0;
  return {
    kind: 'backingOff',
    delayMs: Math.max(asked, retryDelayMs(failure.failures, jitter)),
    version,
    ...failure,
  };
};

/** The first useless version in a row is replaced at once; a server that keeps answering so is treated as one that fails. */
const afterFailure = (
  version: string | undefined,
  before: number,
  error: Error,
  context: TransitionContext,
): ReflectorState => {
  const failure = { failures: before + 1, error };
  if (!isVersionUnusable(error)) return backingOff(version, failure, context);
  return before === 0 ? listing(failure) : backingOff(undefined, failure, context);
};

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
  // A connection that never gave anything may wait for a version that a restored server is years away from.
  if (event.type === 'inactive') return state.receivedAny ? reconnect() : listing({ ...state, failures });
  return state;
};

const fromBackingOff = (state: BackingOff, event: ReflectorEvent, { now }: TransitionContext): ReflectorState => {
  if (event.type !== 'backedOff') return state;
  return state.version === undefined ? listing(state) : watching(state.version, now, state);
};

/** Total: what cannot happen in a state leaves it as it is. */
export const nextState = (state: ReflectorState, event: ReflectorEvent, context: TransitionContext): ReflectorState => {
  if (event.type === 'stopped') return { kind: 'stopped', failures: state.failures, error: state.error };
  if (state.kind === 'listing') return fromListing(state, event, context);
  if (state.kind === 'watching') return fromWatching(state, event, context);
  if (state.kind === 'backingOff') return fromBackingOff(state, event, context);
  return state;
};

/** client-go's numbers. */
const backoff = { baseMs: 800, maxMs: 30_000 };

/** A watch that held this long ends the row of failures: its own failure counts as the first. */
export const healthyMs = 30_000;

/** The upper half of each step is random (`jitter` in [0, 1)), so that a fleet that failed together does not come back together. */
export const retryDelayMs = (failures: number, jitter: number): number => {
  const step = backoffMs(backoff, failures);
  return step / 2 + (step / 2) * jitter;
};
