import type { HostSecrets, LateSecrets } from '../spec/host-spec.ts';
import type { AnyStep } from '../steps/step.ts';
import type { StepOutcome } from './execute-step.ts';
import type { Session } from './perform-action.ts';
import type { Action } from './plan.ts';
import { keepQuiet } from './redaction.ts';
import { StepError } from './step-error.ts';

type Ask = NonNullable<LateSecrets[keyof LateSecrets]>;

/** How to ask for the secret that a step may turn out to need. None for one that may change nothing now, and for one that is given. */
export const lateSecretOf = (
  { step, obstacle }: Action,
  { spec, secrets, lateSecrets }: Pick<Session, 'spec' | 'secrets' | 'lateSecrets'>,
): Ask | undefined => {
  if (step.late === undefined || obstacle !== undefined || secrets[step.late]) return undefined;
  return step.intent(spec) === undefined ? undefined : lateSecrets[step.late];
};

/** The session with the secret in it, which nobody repeats from now on; or what came of asking. */
export const withLateSecret = async (step: AnyStep, ask: Ask, session: Session): Promise<Session | StepOutcome> => {
  const { redact, signal } = session;
  const answer = await answerOf(ask, signal);
  if (answer === undefined) return { kind: 'aborted', during: step.name };
  if (answer.kind === 'problem')
    return { kind: 'failed', error: new StepError(step, { failure: 'no secret', said: answer.message }, redact) };
  keepQuiet(redact, answer.secret);
  const given: HostSecrets = step.late === undefined ? {} : { [step.late]: answer.secret };
  return { ...session, secrets: { ...session.secrets, ...given } };
};

/** Undefined when the caller did not want to wait. */
const answerOf = async (ask: Ask, signal: AbortSignal | undefined): Promise<Awaited<ReturnType<Ask>> | undefined> => {
  try {
    return await ask(signal);
  } catch (error) {
    if (signal?.aborted === true) return undefined;
    throw error;
  }
};
