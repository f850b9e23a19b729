import type { Decision } from './decision.ts';
import type { RunnerFacts } from './snapshot.ts';

/** How long a GitHub that does not answer holds a Mac back, which costs money meanwhile. */
const patienceMs = 10 * 60_000;
/** The same for a runner that had a job: the longest that a job takes unless its workflow says otherwise. */
const jobMs = 6 * 3_600_000;

type Waiting = Extract<Decision, { kind: 'await runner' | 'remove runner' }>;

/**
 * The runner of a builder whose Mac goes back.
 *
 *   | GitHub says                               | then                                                             |
 *   |-------------------------------------------|------------------------------------------------------------------|
 *   | nothing, as it is not asked               | the Mac goes back                                                |
 *   | there is none                             | the Mac goes back                                                |
 *   | it is idle                                | it is taken off the list, and gets no job any more               |
 *   | it has a job                              | its job ends first: a wipe would end it                          |
 *   | nothing for a while                       | wait                                                             |
 *   | nothing for long                          | the Mac goes back; GitHub forgets a runner that is offline       |
 */
export const decideRunner = (
  runner: RunnerFacts,
): Waiting | { readonly kind: 'go on'; readonly runnerLeft?: string } => {
  switch (runner.kind) {
    case 'not asked':
    case 'none':
      return { kind: 'go on' };
    case 'there':
      return runner.isBusy ? { kind: 'await runner', message: busy } : { kind: 'remove runner', id: runner.id };
    case 'unknown': {
      const { forMs, wasBusy, message } = runner;
      if (forMs >= (wasBusy ? jobMs : patienceMs)) return { kind: 'go on', runnerLeft: `${left} ${message}` };
      return {
        kind: 'await runner',
        message:
          `${wasBusy ? 'Its runner had a job when GitHub was last heard.' : ''} Its runner could not be taken off the list at GitHub yet: ${message}`.trim(),
      };
    }
  }
};

const busy =
  'Its runner has a job at GitHub. The Mac goes back when that has ended; cancel it there if nobody needs it.';
const left =
  'Its runner is still on the list at GitHub, which forgets a runner that has been offline for 14 days. Remove it there if it is in the way.';
