import { backoffMs } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import type { ScalewayError } from '@tartan/scaleway';

/** Scaleway may have done it: only a read tells. */
export const isOutcomeUnknown = ({ kind }: ScalewayError): boolean =>
  kind === 'no answer' || kind === 'unavailable' || kind === 'garbled';

const baseBackoffMs = 5000;
const maxBackoffMs = 5 * 60_000;

/**
 * Per-host back-off of requests to Scaleway after a refusal, except for releases, whose refusals are in the status. In addition to the
 * queue's back-off, which any other trigger ends, even the write that records the refusal. In memory only: a restart asks again at once.
 */
export const createRefusalBackoff = (clock: Pick<Clock, 'monotonic'>, pollMs: number) => {
  const refusals = new Map<string, { generation: number | undefined; inARow: number; until: number }>();
  return {
    /** Zero: no back-off. A refusal for another generation does not count. */
    remainingMs: (id: string, generation: number | undefined): number => {
      const refusal = refusals.get(id);
      return refusal?.generation === generation ? Math.max(0, (refusal?.until ?? 0) - clock.monotonic()) : 0;
    },
    /** Whether Scaleway has refused the last request for this generation. */
    isRefused: (id: string, generation: number | undefined): boolean => {
      const refusal = refusals.get(id);
      return refusal !== undefined && refusal.generation === generation;
    },
    /** Returns the pause. */
    record: (id: string, generation: number | undefined, error: ScalewayError): number => {
      const before = refusals.get(id);
      const inARow = before?.generation === generation ? (before?.inARow ?? 0) + 1 : 1;
      const pauseMs = pauseAfter(error, inARow, pollMs);
      refusals.set(id, { generation, inARow, until: clock.monotonic() + pauseMs });
      return pauseMs;
    },
    reset: (id: string): unknown => refusals.delete(id),
    clear: (): void => refusals.clear(),
  };
};

export type RefusalBackoff = ReturnType<typeof createRefusalBackoff>;

/** These may pass without action: not retried before the Mac is polled anyway. */
const passesByItself: ReadonlySet<ScalewayError['kind']> = new Set(['transient state', 'not found', 'rate limited']);

const pauseAfter = ({ kind, retryAfter = 0 }: ScalewayError, inARow: number, pollMs: number): number =>
  passesByItself.has(kind)
    ? Math.max(retryAfter, backoffMs({ baseMs: pollMs, maxMs: maxBackoffMs }, inARow))
    : backoffMs({ baseMs: baseBackoffMs, maxMs: maxBackoffMs }, inARow);
