import type { Clock } from '../clock/clock.ts';
import type { Outcome, Reconcile } from './outcome.ts';

/** One pass over one key: under way until `ended` resolves, which it does as soon as the reconcile function lets go. */
export interface Pass {
  readonly key: string;
  /** Fires the signal of the reconcile function. */
  cancel(reason: Error): void;
  /** Never rejects. */
  readonly ended: Promise<PassEnd>;
}

export interface PassOptions {
  reconcile: Reconcile;
  clock: Clock;
  /** After that time the signal fires. */
  timeoutMs: number | undefined;
  /** Called when it does, since a pass that ignores its signal may never end and so never be heard of again. */
  onTimeout(key: string): void;
}

export interface PassEnd {
  outcome: Outcome;
  seconds: number;
  defect: boolean;
  timedOut: boolean;
}

/** An error that nobody foresaw: the code is wrong, not the world. */
const isDefect = (error: unknown): boolean =>
  !(error instanceof Error) ||
  error instanceof TypeError ||
  error instanceof RangeError ||
  error instanceof ReferenceError ||
  error instanceof SyntaxError;

/** Whoever wrote the reconcile function may have switched the compiler off. */
const defectOf = (outcome: Outcome): Error | undefined => {
  const kind: unknown = outcome?.kind;
  if (kind === 'settled' || kind === 'failed' || kind === 'stuck') return undefined;
  if (outcome?.kind !== 'again') return new TypeError(`the reconcile function answered no outcome but ${String(kind)}`);
  if (Number.isFinite(outcome.afterMs) && outcome.afterMs >= 0) return undefined;
  return new TypeError(`the reconcile function wants to come back after ${outcome.afterMs} ms, which is no time`);
};

const carryOut = async (reconcile: Reconcile, key: string, signal: AbortSignal): Promise<[Outcome, boolean]> => {
  try {
    const outcome = await reconcile(key, signal);
    const defect = defectOf(outcome);
    return defect ? [{ kind: 'failed', error: defect }, true] : [outcome, false];
  } catch (error) {
    return [{ kind: 'failed', error }, isDefect(error)];
  }
};

/**
 * Guarantees: whatever the reconcile function throws, now or later, ends up as `failed`.
 * Caveats: a function that ignores its signal is not ended by anything. Its key stays taken, since two passes over one key at
 * the same time are worse than none.
 */
export const beginPass = ({ reconcile, clock, timeoutMs, onTimeout }: PassOptions, key: string): Pass => {
  const canceller = new AbortController();
  const start = clock.monotonic();
  let timedOut = false;
  const takeBack =
    timeoutMs === undefined
      ? undefined
      : clock.after(timeoutMs, () => {
          timedOut = true;
          onTimeout(key);
          canceller.abort(new Error(`the pass over ${key} took longer than ${timeoutMs} ms`));
        });
  const end = async (): Promise<PassEnd> => {
    const [outcome, defect] = await carryOut(reconcile, key, canceller.signal);
    takeBack?.();
    return { outcome, seconds: (clock.monotonic() - start) / 1000, defect, timedOut };
  };
  return { key, cancel: (reason) => canceller.abort(reason), ended: end() };
};
