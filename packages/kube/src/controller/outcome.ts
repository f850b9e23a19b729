/** What one pass over a key came to. Closed: a controller knows what to do with each. */
export type Outcome =
  /** Nothing to do until something changes. */
  | { kind: 'settled' }
  /** Come back after that time, whatever happens. */
  | { kind: 'again'; afterMs: number }
  /** Did not work; come back with back-off. A throw counts as this. */
  | { kind: 'failed'; error: unknown }
  /** Will not work until the object changes: reported, not retried. */
  | { kind: 'stuck'; error: unknown };

export const settled: Outcome = { kind: 'settled' };
export const again = (afterMs: number): Outcome => ({ kind: 'again', afterMs });

/** Key in, outcome out. Reads the world each time; `signal` fires when the process stops or leadership is lost. */
export type Reconcile = (key: string, signal: AbortSignal) => Promise<Outcome>;
