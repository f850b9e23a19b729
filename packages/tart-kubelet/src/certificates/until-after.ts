import type { Clock } from '@tartan/kube/clock';

/** A signal that fires with another one, or when the time is over; `end` takes the latter back. */
export const untilAfter = (
  clock: Clock,
  milliseconds: number,
  signal: AbortSignal,
): { readonly signal: AbortSignal; readonly end: () => void } => {
  const tooLate = new AbortController();
  const end = clock.after(milliseconds, () => tooLate.abort());
  return { signal: AbortSignal.any([signal, tooLate.signal]), end };
};
