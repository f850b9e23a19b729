import { type Clock, sleep, systemClock } from '@tartan/kube/clock';
import { queueJob } from '@tartan/sim-fleet';
import type { SimulatedGitHub } from '@tartan/sim-github';

/** Every 25 minutes, which is four times a minute at the default speed. */
const jobEveryMs = 25 * 60_000;
const intervalBounds = { min: 2_000, max: 120_000 };

export const jobIntervalMs = (pace: number): number =>
  Math.min(intervalBounds.max, Math.max(intervalBounds.min, Math.round(jobEveryMs * pace)));

/** Queues jobs until the signal fires. */
export const keepQueueing = async (
  github: Pick<SimulatedGitHub, 'queueJob' | 'jobs'>,
  pace: number,
  signal: AbortSignal,
  clock: Clock = systemClock,
): Promise<void> => {
  while (!signal.aborted) {
    queueJob(github);
    await sleep(clock, jobIntervalMs(pace), signal);
  }
};
