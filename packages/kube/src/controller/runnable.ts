import { type Clock, sleep } from '../clock/clock.ts';
import { errorMessage } from '../errors/kube-error.ts';

/** Runs until its signal fires. A controller is one. */
export interface Runnable {
  readonly name: string;
  /** Work that still runs after `run` has ended. */
  readonly abandoned?: readonly string[];
  run(signal: AbortSignal): Promise<void>;
}

export interface StartedRunnable {
  readonly name: string;
  stop(): void;
  /** Never rejects: errors go to `fail`. */
  readonly ended: Promise<void>;
  /** Why it has not stopped; undefined if it has. */
  stillRunning(): string | undefined;
}

export type Fail = (reason: string, error?: unknown) => void;

/** Ending before the stop is a failure, as rejecting is: the other parts rely on it. */
export const startRunnable = (runnable: Runnable, fail: Fail): StartedRunnable => {
  const stopping = new AbortController();
  const { name } = runnable;
  let running = true;
  const live = async (): Promise<void> => {
    try {
      await runnable.run(stopping.signal);
      if (!stopping.signal.aborted) fail(`${name} ended without having been stopped`);
    } catch (error) {
      fail(`${name} failed: ${errorMessage(error)}`, error);
    } finally {
      running = false;
    }
  };
  return {
    name,
    ended: live(),
    stop: () => stopping.abort(new Error(`${name} is stopping`)),
    stillRunning: () => {
      if (running) return `${name} still runs`;
      const abandoned = runnable.abandoned ?? [];
      return abandoned.length === 0 ? undefined : `${name} still works on ${abandoned.join(', ')}`;
    },
  };
};

/** Stops all of them and waits up to `withinMs`. Resolves with those that still run. */
export const stopRunnables = async (
  clock: Clock,
  parts: readonly StartedRunnable[],
  withinMs: number,
): Promise<string[]> => {
  for (const part of parts) part.stop();
  const allEnded = new AbortController();
  void Promise.all(parts.map((part) => part.ended)).then(() => allEnded.abort());
  await sleep(clock, withinMs, allEnded.signal);
  return parts.flatMap((part) => part.stillRunning() ?? []);
};
