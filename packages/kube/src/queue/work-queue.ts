/**
 * Keys that want attention. A key is in it once, however often it is added; it is worked on by one worker at a time; added while
 * it is worked on, it comes again afterwards.
 */
export interface WorkQueue {
  add(key: string): void;
  /** Of two delays for the same key the one that ends earlier counts. Adding a key at once leaves its delay as it is. */
  addAfter(key: string, milliseconds: number): void;
  /** Adds the key after its back-off, which doubles with every failure in a row; not before `atLeastMs` where that is longer. */
  retry(key: string, atLeastMs?: number): void;
  /** The key is fine: its next failure starts with the shortest back-off. */
  forget(key: string): void;
  /** Failures in a row. */
  failures(key: string): number;
  /** The next key, which is this caller's until `done`; undefined when the queue has been stopped. */
  next(): Promise<string | undefined>;
  done(key: string): void;
  /** Keys that wait now (not those of `addAfter` that are not due). */
  readonly length: number;
  /** For good: what waits is dropped, whoever waits is sent home, keys being worked on may still be `done`. */
  stop(): void;
}
