import { again } from '@tartan/kube';
import type { WorkOutcome } from '../../host-work/host-work.ts';
import type { Decision } from '../decision.ts';
import { afterRoll, forgive, isWhole, waitsForIdle } from '../memory.ts';
import { done, type Result } from '../result.ts';
import { waits } from '../waits.ts';
import { type Act, type Acted, lookAgain } from './context.ts';
import { cordon } from './cordon.ts';
import { push, runnerToken } from './push.ts';
import { turnNow } from './turn.ts';
import { withSlot } from './with-slot.ts';

/** Gives the Mac what it shall have. Only steps that have changed run; those that would disturb virtual machines wait for a cordon. */
export const roll = (act: Act, { hash, idle }: Extract<Decision, { kind: 'roll' }>): Promise<Acted> =>
  withSlot(act, async () => {
    const { world, record, observation } = act;
    const { plan, snapshot } = observation;
    const turn = await turnNow(act, hash);
    if (turn === undefined || turn.rollBack === true || plan?.kind !== 'planned') return lookAgain;

    const { spec, secrets } = plan;
    const { lateSecrets } = runnerToken(act);
    const outcome = await push(act, { kind: 'converge', mode: 'changed', spec, secrets, lateSecrets, idle });
    const { policy } = snapshot;
    // Before it is written down, which may fail: the turn can be over by then, and nobody may push without one (invariant 9).
    const pauseMs = waitsForIdle(outcome) ? undefined : pauseAfter(act, outcome);
    await record.write((status) => afterRoll(status, outcome, { hash, now: world.clock.now(), policy }));
    const result: Result = { kind: 'worked', outcome };
    if (pauseMs !== undefined) return { result, next: again(pauseMs) };
    return { result, next: again((await cordon(act, hash)) ? 0 : pause(act, waits.afterFailure)) };
  });

const pause = (act: Act, milliseconds: number): number => {
  act.world.pauses.set(act.record.machine.metadata.uid, milliseconds);
  return milliseconds;
};

/** How long nothing more is tried on the Mac. */
export const pauseAfter = (act: Act, outcome: WorkOutcome): number => {
  switch (outcome.kind) {
    case 'done':
      if (!isWhole(outcome)) return pause(act, waits.unreachable);
      pause(act, waits.afterPush);
      return 0;
    case 'rejected':
      return waits.afterFailure;
    case 'locked':
      return pause(act, waits.locked);
    case 'unreachable':
    case 'host key changed':
    case 'not wiped':
      return pause(act, waits.unreachable);
    case 'aborted':
      return waits.conflict;
  }
};

/** The Mac refused something else, or long ago. */
export const forgiveRefusal = async (act: Act): Promise<Acted> => {
  await act.record.write(forgive);
  return { result: done, next: again(0) };
};
