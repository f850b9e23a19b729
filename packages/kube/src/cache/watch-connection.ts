import type { Clock } from '../clock/clock.ts';
import { guardSilence } from './silence-guard.ts';

/**
 * Reads one watch to its end, or until it has been silent for too long, or until `signal` fires.
 * Guarantees: afterwards the stream is closed and no timer is left; nothing is taken in once it has been given up.
 * Assumptions: the stream ends soon after the signal it was opened with has fired; how it ends then (with an error or not) says
 * nothing about the server.
 */
export const readWatch = async <E>({
  open,
  take,
  clock,
  inactivityMs,
  signal,
}: {
  open: (signal: AbortSignal) => AsyncIterable<E>;
  take: (event: E) => void;
  clock: Clock;
  inactivityMs: number;
  signal: AbortSignal;
}): Promise<'ended' | 'silent'> => {
  const connection = new AbortController();
  const close = (): void => connection.abort();
  const guard = guardSilence(clock, inactivityMs, close);
  signal.addEventListener('abort', close, { once: true });
  try {
    for await (const event of open(connection.signal)) {
      if (connection.signal.aborted) break;
      guard.heard();
      take(event);
    }
  } catch (error) {
    if (!connection.signal.aborted) throw error;
  } finally {
    guard.stop();
    signal.removeEventListener('abort', close);
  }
  return connection.signal.aborted ? 'silent' : 'ended';
};
