import { summaryHash } from '@tartan/host';
import { again } from '@tartan/kube';
import type { WorkOutcome } from '../../host-work/host-work.ts';
import { planHost } from '../host-plan.ts';
import { afterBootstrap, waitsForIdle } from '../memory.ts';
import type { Result } from '../result.ts';
import { waits } from '../waits.ts';
import { type Act, type Acted, callOf, lookAgain } from './context.ts';
import { giveBackUnwiped } from './escalation.ts';
import { makeJoin } from './join.ts';
import { push, runnerToken } from './push.ts';
import { withSlot } from './with-slot.ts';

const failed = (result: Result): Acted => ({ result, next: again(waits.others) });

/**
 * Makes the Mac ready, all of it in one go. Join credentials are made anew for each try: the secret half of those before is forgotten, and
 * nobody knows how far they got.
 */
export const bootstrap = (act: Act): Promise<Acted> => withSlot(act, () => tryOnce(act));

const tryOnce = async (act: Act): Promise<Acted> => {
  const { world, record, observation } = act;
  const { login, snapshot } = observation;
  if (login === undefined) return lookAgain;
  const plan = await planHost(world, record.machine, { login, joinVersion: '' }, callOf(act));
  if (plan.kind === 'problem') return failed({ ...plan, kind: 'no bootstrap' });
  const join = await makeJoin(act);
  if ('kind' in join) return failed(join);

  const { joinVersion, kubeconfig } = join;
  const spec = { ...plan.spec, agent: { ...plan.spec.agent, joinVersion } };
  const hash = summaryHash(spec);
  const secrets = { ...plan.secrets, joinKubeconfig: kubeconfig };
  const runner = runnerToken(act);
  // Unless its agent joined in an earlier try, nothing can run on a Mac that was just wiped.
  const idle = snapshot.idle !== false;
  const { lateSecrets } = runner;
  const outcome = await push(act, { kind: 'converge', mode: 'changed', spec, secrets, lateSecrets, idle });
  const noToken = runner.problem();
  if (outcome.kind === 'done' && noToken !== undefined) return withoutRunner(act, noToken);
  await record.write((status) => afterBootstrap(status, outcome, { joinVersion, hash, now: world.clock.now() }));
  const result: Result = { kind: 'worked', outcome };
  if (outcome.kind === 'not wiped') return giveBackUnwiped(act, outcome);
  return { result, next: again(pauseAfter(outcome)) };
};

/**
 * All is done but the runner, and a builder without one bakes nothing: it is not ready. Nothing of that is the Mac's fault, so that it
 * counts as no failure: no restart helps, nor another Mac.
 */
const withoutRunner = (act: Act, message: string): Acted => {
  act.world.pauses.set(act.record.machine.metadata.uid, waits.person);
  const result: Result = { kind: 'no bootstrap', reason: 'GHRunnerRegistrationTokenUnavailable', message };
  return { result, next: again(waits.person) };
};

const pauseAfter = (outcome: WorkOutcome): number => {
  if (outcome.kind === 'aborted') return waits.conflict;
  return outcome.kind === 'done' && !waitsForIdle(outcome) ? 0 : waits.afterFailure;
};
