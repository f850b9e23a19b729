import type { Connection } from '../cluster/cluster.ts';
import type { Selection } from './observe.ts';

/** Where somebody looks: once, and from then on. */
export interface Sight<Seen> {
  /** Rejects with a sentence for people when there is nothing to be seen. */
  observe(connection: Connection, selection: Selection, signal: AbortSignal): Promise<Seen>;
  /** Keeps telling until the signal fires. */
  follow(
    connection: Connection,
    selection: Selection,
    first: Seen,
    follower: Follower<Seen>,
    signal: AbortSignal,
  ): Promise<void>;
}

/** What happens to something that is followed. */
export interface Follower<Seen> {
  /** Once all has been read, and after each change. */
  show(seen: Seen): void;
  /** Also without a change, since times pass. Undefined: never. */
  readonly everyMs: number | undefined;
}
