import { type Clock, sleep } from '../clock/clock.ts';
import { errorMessage } from '../errors/kube-error.ts';

/** Something that runs until its signal fires. A controller is one. */
export interface Runnable {
  readonly name: string;
  /** What it has left running behind `run`, if anything. */
  readonly abandoned?: readonly string[];
  run(signal: AbortSignal): Promise<void>;
}

/** Something that has been started. */
export interface StartedRunnable {
  readonly name: string;
  stop(): void;
  /** Never rejects: what goes wrong is told to `fail`. */
  readonly ended: Promise<void>;
  /** Why it cannot be called stopped, if so. */
  stillRunning(): string | undefined;
}

export type Fail = (reason: string, error?: unknown) => void;

/** To end without having been told to counts as a failure, as rejecting does: the others rely on it. */
export const startRunnable = (runnable: Runnable, fail: Fail): StartedRunnable => {
  const stopping = new AbortController();
  const { name } = runnable;
  let running = true;
  const live = async (): Promise<void> => {
    try {
      await runnable.run(stopping.signal);
      if (!stopping.signal.aborted) fail(`${name} ended although nobody had told it to`);
    } catch (error) {
      fail(`${name} failed: ${errorMessage(error)}`, error);
    } finally {
      running = false;
    }
  };
  return {
    name,
    ended: live(),
    stop: () => stopping.abort(new Error(`${name} is told to stop`)),
    stillRunning: () => {
      if (running) return `${name} still runs`;
      const abandoned = runnable.abandoned ?? [];
      return abandoned.length === 0 ? undefined : `${name} still works on ${abandoned.join(', ')}`;
    },
  };
};

/** Tells all of them to stop and waits, but no longer than that. Answers what is left. */
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
