/** Where a watch cache stands with its server. `next-state.ts` says how it moves. */
export type WatchState = Listing | Watching | Waiting | Stopped;

/** What every state remembers of what went wrong. */
export interface Trouble {
  /** Failures in a row: decides the next wait. */
  failures: number;
  /** The latest failure; undefined again as soon as something comes through. */
  error: Error | undefined;
}

/**
 * A list is under way. Knows no version to watch from: this is the beginning, or the server no longer serves the version we had.
 * Goes to `watching` when the list is in, to `waiting` when it fails.
 */
export interface Listing extends Trouble {
  kind: 'listing';
}

/**
 * One connection of a watch, from its opening to its end. Each connection is a state of its own.
 * Goes to `watching` (a new connection) when the server ends it in its own time or it falls silent, to `listing` when the version
 * is of no use, to `waiting` when it fails.
 */
export interface Watching extends Trouble {
  kind: 'watching';
  /** Everything up to here is in the cache: where the next connection goes on. */
  version: string;
  /** When this connection began, by the monotonic clock. */
  since: number;
  /** Whether this connection has given anything, be it a bookmark. */
  heard: boolean;
}

/**
 * Nothing is under way until the wait is over.
 * Goes to `watching` when there is a version to go on from, else to `listing`.
 */
export interface Waiting extends Trouble {
  kind: 'waiting';
  delayMs: number;
  version: string | undefined;
}

/** `run` has been told to end. Goes nowhere. */
interface Stopped extends Trouble {
  kind: 'stopped';
}

/** What happens to a cache. */
export type WatchOccurrence =
  /** A complete list is in the cache. */
  | { type: 'listed'; version: string }
  /** An event or a bookmark has been taken in; `version` is its own. */
  | { type: 'heard'; version: string }
  /** The server ended the watch without complaint. */
  | { type: 'ended' }
  /** Neither event nor bookmark for so long that the connection must be dead. */
  | { type: 'silent' }
  /** The list or the watch failed. */
  | { type: 'failed'; error: Error }
  /** The wait is over. */
  | { type: 'waited' }
  | { type: 'stopped' };

export const beginning: WatchState = { kind: 'listing', failures: 0, error: undefined };
