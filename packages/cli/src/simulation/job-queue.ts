import { type Clock, sleep, systemClock } from '@tartan/kube/clock';
import type { JobRecord, PlayedRunner, SimulatedGitHub } from '@tartan/sim-github';
import { repository } from './github.ts';

/** What workflows of the simulation ask for: each label of the pool's runners. */
const labels = ['self-hosted', 'macOS', 'ARM64'];

const names = ['build', 'unit-tests', 'ui-tests', 'archive'];

/** One job, as if somebody had pushed something. */
export const queueOneJob = (github: Pick<SimulatedGitHub, 'queueJob' | 'jobs'>): JobRecord => {
  const count = github.jobs().length;
  return github.queueJob({ repository, labels, name: `${names[count % names.length]}-${count + 1}` });
};

/** As people push: every 25 minutes, which is four times a minute at the usual speed; never so often that they pile up. */
const everyMs = 25 * 60_000;
const bounds = { least: 2_000, most: 120_000 };

export const jobIntervalMs = (pace: number): number =>
  Math.min(bounds.most, Math.max(bounds.least, Math.round(everyMs * pace)));

/** Queues a job now and then until the signal fires. */
export const keepQueueing = async (
  github: Pick<SimulatedGitHub, 'queueJob' | 'jobs'>,
  pace: number,
  signal: AbortSignal,
  clock: Clock = systemClock,
): Promise<void> => {
  while (!signal.aborted) {
    queueOneJob(github);
    await sleep(clock, jobIntervalMs(pace), signal);
  }
};

/** A job takes 15 to 25 minutes: about ten seconds at the usual speed. All of them go well. */
const leastWorkMs = 15 * 60_000;
const moreWorkMs = 10 * 60_000;

export const workAtPace =
  (pace: number, clock: Clock = systemClock): PlayedRunner['work'] =>
  async (_job, signal) => {
    await sleep(clock, (leastWorkMs + Math.random() * moreWorkMs) * pace, signal);
    return 'success';
  };
