import { isKubeError, KubeError } from '../errors/kube-error.ts';
import { type Backoff, backoffMs } from './backoff.ts';
import { isNewer } from './resource-version.ts';
import type { Listing, Trouble, Waiting, Watching, WatchOccurrence, WatchState } from './watch-state.ts';

export interface Circumstances {
  /** The monotonic clock. */
  now: number;
  /** Uniform in [0, 1). */
  jitter: number;
  backoff: Backoff;
}

/** A watch that ends sooner is no watch: going on at once would make a busy loop against a server that is unwell. */
const shortestWatchMs = 1000;

/**
 * The server cannot serve a watch from this version, and will not be able to later: it has forgotten it (410), or has never reached
 * it, because its storage was restored from a backup. Only a new list helps.
 */
const isVersionUseless = (error: Error): boolean =>
  isKubeError(error, 'expired') ||
  (isKubeError(error, 'timeout') && error.causes.some(({ reason }) => reason === 'ResourceVersionTooLarge'));

const listing = ({ failures, error }: Trouble): Listing => ({ kind: 'listing', failures, error });

const watching = (version: string, now: number, { failures, error }: Trouble): Watching => ({
  kind: 'watching',
  version,
  since: now,
  heard: false,
  failures,
  error,
});

/** The wait that the server asks for is a floor, not a ceiling. */
const waiting = (version: string | undefined, trouble: Trouble, { jitter, backoff }: Circumstances): Waiting => {
  const asked = (isKubeError(trouble.error) && trouble.error.retryAfterMs) || 0;
  return {
    kind: 'waiting',
    delayMs: Math.max(asked, backoffMs(backoff, trouble.failures, jitter)),
    version,
    ...trouble,
  };
};

/** The first useless version in a row is replaced at once; a server that keeps answering so is treated as one that fails. */
const afterFailure = (
  version: string | undefined,
  before: number,
  error: Error,
  circumstances: Circumstances,
): WatchState => {
  const trouble = { failures: before + 1, error };
  if (!isVersionUseless(error)) return waiting(version, trouble, circumstances);
  return before === 0 ? listing(trouble) : waiting(undefined, trouble, circumstances);
};

const fromListing = (state: Listing, occurrence: WatchOccurrence, circumstances: Circumstances): WatchState => {
  switch (occurrence.type) {
    case 'listed':
      return watching(occurrence.version, circumstances.now, { failures: state.failures, error: undefined });
    case 'failed':
      return afterFailure(undefined, state.failures, occurrence.error, circumstances);
    case 'heard':
    case 'ended':
    case 'silent':
    case 'waited':
    case 'stopped':
      return state;
  }
};

const fromWatching = (state: Watching, occurrence: WatchOccurrence, circumstances: Circumstances): WatchState => {
  const lasted = circumstances.now - state.since;
  const failures = lasted >= circumstances.backoff.healthyMs ? 0 : state.failures;
  switch (occurrence.type) {
    case 'heard': {
      const version = isNewer(occurrence.version, state.version) ? occurrence.version : state.version;
      return { ...state, version, heard: true, error: undefined };
    }
    case 'ended':
      if (lasted >= shortestWatchMs) return watching(state.version, circumstances.now, { ...state, failures });
      return afterFailure(
        state.version,
        failures,
        new KubeError('unreachable', 'The server ended the watch as soon as it had begun.'),
        circumstances,
      );
    case 'silent':
      // A connection that never said a word may be waiting for a version that a restored server is years away from.
      return state.heard
        ? watching(state.version, circumstances.now, { ...state, failures })
        : listing({ ...state, failures });
    case 'failed':
      return afterFailure(state.version, failures, occurrence.error, circumstances);
    case 'listed':
    case 'waited':
    case 'stopped':
      return state;
  }
};

const fromWaiting = (state: Waiting, occurrence: WatchOccurrence, { now }: Circumstances): WatchState => {
  if (occurrence.type !== 'waited') return state;
  return state.version === undefined ? listing(state) : watching(state.version, now, state);
};

/** Total: what cannot happen in a state leaves it as it is. */
export const nextState = (state: WatchState, occurrence: WatchOccurrence, circumstances: Circumstances): WatchState => {
  if (occurrence.type === 'stopped') return { kind: 'stopped', failures: state.failures, error: state.error };
  if (state.kind === 'listing') return fromListing(state, occurrence, circumstances);
  if (state.kind === 'watching') return fromWatching(state, occurrence, circumstances);
  if (state.kind === 'waiting') return fromWaiting(state, occurrence, circumstances);
  return state;
};
