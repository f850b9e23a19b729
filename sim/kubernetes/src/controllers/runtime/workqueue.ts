import type { Clock } from '@tartan/kube/clock';
import { ApiError } from '../../errors/api-error.ts';
import type { LoopbackClient } from '../../store/loopback-client.ts';

/** A controller of the control plane. The constructor does nothing; `start` returns `stop`. */
export interface Controller {
  name: string;
  start(api: LoopbackClient): () => void;
}

interface WorkQueue {
  add: (key: string) => void;
  /** Like `add`, but after a delay. The earliest of several calls counts. */
  addAfter: (key: string, milliseconds: number) => void;
  stop: () => void;
}

export type OnError = (error: unknown, key: string) => void;

interface WorkQueueOptions {
  clock: Clock;
  reconcile: (key: string) => void | Promise<void>;
  onError: OnError;
}

const firstRetry = 5;
const lastRetry = 30_000;

export const backOff = (failures: number): number => Math.min(firstRetry * 2 ** (failures - 1), lastRetry);

const isConflict = (error: unknown): boolean => error instanceof ApiError && error.code === 409;

/**
 * A work queue of keys with one worker.
 * Flow: `add` stores the key; a timer calls `reconcile` later, which reads everything anew.
 * Guarantees: `reconcile` never runs inside `add`, and for one key at a time. A key that is added several times while waiting runs once; a
 * key that is added while it runs, runs once more. Errors are retried with increasing delays.
 */
export const workQueue = ({ clock, reconcile, onError }: WorkQueueOptions): WorkQueue => {
  const waiting = new Set<string>();
  const failures = new Map<string, number>();
  const delayed = new Map<string, { at: number; cancel: () => void }>();
  let cancelTurn: (() => void) | undefined;
  let busy = false;
  let stopped = false;

  const wake = (): void => {
    if (stopped || busy || cancelTurn || waiting.size === 0) return;
    cancelTurn = clock.after(0, () => {
      cancelTurn = undefined;
      turn();
    });
  };

  const add = (key: string): void => {
    if (stopped) return;
    waiting.add(key);
    wake();
  };

  const addAfter = (key: string, milliseconds: number): void => {
    if (stopped) return;
    const at = clock.now() + milliseconds;
    const earlier = delayed.get(key);
    if (earlier && earlier.at <= at) return;
    earlier?.cancel();
    const cancel = clock.after(milliseconds, () => {
      delayed.delete(key);
      add(key);
    });
    delayed.set(key, { at, cancel });
  };

  const failed = (key: string, error: unknown): void => {
    // On a conflict the retry reads the newer version.
    if (!isConflict(error)) onError(error, key);
    const count = (failures.get(key) ?? 0) + 1;
    failures.set(key, count);
    addAfter(key, backOff(count));
  };

  const settle = async (key: string, work: Promise<void>): Promise<void> => {
    busy = true;
    try {
      await work;
      failures.delete(key);
    } catch (error) {
      failed(key, error);
    }
    busy = false;
    wake();
  };

  /** Processes the keys that were waiting at the start, so that a key that adds itself cannot block the process forever. */
  const turn = (): void => {
    const batch = [...waiting];
    for (const key of batch) {
      if (stopped) return;
      waiting.delete(key);
      try {
        const work = reconcile(key);
        if (work) {
          void settle(key, work);
          return;
        }
        failures.delete(key);
      } catch (error) {
        failed(key, error);
      }
    }
    wake();
  };

  return {
    add,
    addAfter,
    stop: () => {
      stopped = true;
      cancelTurn?.();
      for (const { cancel } of delayed.values()) cancel();
      delayed.clear();
      waiting.clear();
    },
  };
};
