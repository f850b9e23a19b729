import { isKubeError } from '@tartan/kube';
import { sleep, systemClock as clock } from '@tartan/kube/clock';

const pauseMs = 200;

/** Whoever follows a server goes on when it is back: an outage can be played here. Throws what will not pass. */
export const untilNextTry = async (error: unknown, signal: AbortSignal): Promise<void> => {
  if (signal.aborted) return;
  if (!isKubeError(error, 'expired', 'unreachable', 'timeout', 'serverError', 'tooManyRequests')) throw error;
  await sleep(clock, pauseMs, signal);
};
