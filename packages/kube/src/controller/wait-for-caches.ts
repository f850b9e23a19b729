import type { Clock } from '../clock/clock.ts';
import { sleep } from '../clock/sleep.ts';
import type { Logger } from '../logs/logger.ts';

/** What a manager needs of a watch cache. */
interface ManagedCache {
  readonly synced: Promise<void>;
  readonly hasSynced: boolean;
  readonly lastError: Error | undefined;
  run(signal: AbortSignal): Promise<void>;
}

export type NamedCaches = Readonly<Record<string, ManagedCache>>;

/** Every cache that has not got its first list, and why as far as it knows. */
export const lagging = (caches: NamedCaches): string[] =>
  Object.entries(caches)
    .filter(([, cache]) => !cache.hasSynced)
    .map(([name, { lastError }]) => `${name} (${lastError?.message ?? 'no answer to its first list yet'})`);

const remindEveryMs = 10_000;

/** Resolves when all are synced, the time is over or the signal has fired, whichever is first. Says every ten seconds who is late. */
export const waitForCaches = async (
  { caches, clock, log, deadlineMs }: { caches: NamedCaches; clock: Clock; log: Logger; deadlineMs: number },
  signal: AbortSignal,
): Promise<void> => {
  const enough = new AbortController();
  const finish = (): void => enough.abort();
  if (signal.aborted) return;
  signal.addEventListener('abort', finish, { once: true });
  void Promise.all(Object.values(caches).map((cache) => cache.synced)).then(finish);
  const deadline = clock.monotonic() + deadlineMs;
  for (let left = deadlineMs; left > 0 && !enough.signal.aborted; left = deadline - clock.monotonic()) {
    await sleep(clock, Math.min(left, remindEveryMs), enough.signal);
    if (!enough.signal.aborted) log.warn('Caches are not synced yet', { missing: lagging(caches) });
  }
  signal.removeEventListener('abort', finish);
};
