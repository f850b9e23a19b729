import { backoffMs } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import type { ScalewayError } from '@tartan/scaleway';

/** Scaleway may have done it all the same: only a look tells. */
export const isOutcomeUnknown = ({ kind }: ScalewayError): boolean =>
  kind === 'no answer' || kind === 'unavailable' || kind === 'garbled';

const baseBackoffMs = 5000;
const maxBackoffMs = 5 * 60_000;

/**
 * Which Macs Scaleway is not asked about for a while, for all but the way back, whose refusals are written down. Beside the queue's own
 * back-off, which ends when the Mac is looked at for any other reason: to write down that something was refused is one already. Memory only:
 * a restart asks again at once.
 */
export const createRefusalBackoff = (clock: Pick<Clock, 'monotonic'>, pollMs: number) => {
  const refusals = new Map<string, { generation: number | undefined; inARow: number; until: number }>();
  return {
    /** Zero: it may be asked. What was refused of another spec says nothing of this one. */
    remainingMs: (id: string, generation: number | undefined): number => {
      const refusal = refusals.get(id);
      return refusal?.generation === generation ? Math.max(0, (refusal?.until ?? 0) - clock.monotonic()) : 0;
    },
    /** Answers the pause. */
    record: (id: string, generation: number | undefined, error: ScalewayError): number => {
      const before = refusals.get(id);
      const inARow = before?.generation === generation ? (before?.inARow ?? 0) + 1 : 1;
      const pauseMs = pauseAfter(error, inARow, pollMs);
      refusals.set(id, { generation, inARow, until: clock.monotonic() + pauseMs });
      return pauseMs;
    },
    reset: (id: string): unknown => refusals.delete(id),
  };
};

export type RefusalBackoff = ReturnType<typeof createRefusalBackoff>;

/** What may pass by itself is not tried again before the Mac is looked at anyway. */
const passesByItself: ReadonlySet<ScalewayError['kind']> = new Set(['transient state', 'not found', 'rate limited']);

const pauseAfter = ({ kind, retryAfter = 0 }: ScalewayError, inARow: number, pollMs: number): number =>
  passesByItself.has(kind)
    ? Math.max(retryAfter, backoffMs({ baseMs: pollMs, maxMs: maxBackoffMs }, inARow))
    : backoffMs({ baseMs: baseBackoffMs, maxMs: maxBackoffMs }, inARow);
