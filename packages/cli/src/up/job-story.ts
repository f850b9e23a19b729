import { type Clock, sleep, systemClock } from '@tartan/kube/clock';
import type { Happening, SimulatedGitHub } from '@tartan/sim-github';
import { lineOf } from './story.ts';
import type { Voice } from './voice.ts';

/** GitHub tells nobody of what happens in it. */
const lookEveryMs = 250;

type Jobs = ReturnType<SimulatedGitHub['jobs']>;

/** One short line for a job that begins or ends; none for the rest. */
export const jobLine = ({ what, runner = '', job }: Happening, jobs: Jobs, voice: Voice): string | undefined => {
  const record = jobs.find(({ id }) => id === job);
  const name = record?.name ?? String(job);
  if (what === 'job started') return lineOf(runner, `job ${name} begins`);
  if (what === 'job finished')
    return lineOf(runner, `job ${name} ends: ${voice.good(record?.conclusion ?? 'unknown')}`);
  if (what === 'job lost') return lineOf(runner, voice.bad(`job ${name} is lost: its runner was not heard of again`));
  return undefined;
};

/** Tells of jobs from now on, until the signal fires. */
export const tellJobs = async (
  github: Pick<SimulatedGitHub, 'history' | 'jobs'>,
  voice: Voice,
  signal: AbortSignal,
  clock: Clock = systemClock,
): Promise<void> => {
  let told = github.history.length;
  while (!signal.aborted) {
    for (const happening of github.history.slice(told)) {
      const line = jobLine(happening, github.jobs(), voice);
      if (line !== undefined) voice.say(line);
    }
    told = github.history.length;
    await sleep(clock, lookEveryMs, signal);
  }
};
