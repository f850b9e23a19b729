import { errorMessage, type Redactor } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import type { Artifact } from '../artifacts/artifact.ts';
import { pushArtifact, type PushOutcome } from '../artifacts/push-artifact.ts';
import type { HostConnection } from '../connection/connection.ts';
import type { HostSecrets, OnDemandSecret, OnDemandSecrets, Preparation } from '../host-spec.ts';
import type { AnyStep } from '../steps/step.ts';
import { executeStep, type StepOutcome, stepRun, type StepRunOptions } from './execute-step.ts';
import { type HostEvent, interruptedBy } from './host-outcome.ts';
import type { Action } from './plan.ts';
import { addSecret } from './redaction.ts';
import { StepError, type StepFailure } from './step-error.ts';

export interface ConvergeContext {
  readonly connection: HostConnection;
  readonly spec: Preparation;
  readonly secrets: HostSecrets;
  readonly onDemandSecrets: OnDemandSecrets;
  readonly idle: boolean;
  readonly redact: Redactor;
  readonly clock: Clock;
  report(event: HostEvent): void;
  readonly signal?: AbortSignal | undefined;
}

/** Pushes the artifacts of a step and runs it. A stamped step is checked first, so that nothing is sent needlessly. */
export const performAction = async (
  action: Action,
  lockOwner: string,
  session: ConvergeContext,
): Promise<StepOutcome> => {
  const { step } = action;
  const started = session.clock.monotonic();
  session.report({ kind: 'step started', step: step.name, title: step.title });
  const outcome = await attempt(action, lockOwner, session);
  session.report({
    kind: 'step finished',
    step: step.name,
    title: step.title,
    result: outcome.kind === 'finished' ? outcome.result : outcome.kind === 'step failed' ? 'failed' : 'cut short',
    differences: outcome.kind === 'finished' ? outcome.differences : [],
    durationMs: session.clock.monotonic() - started,
  });
  return outcome;
};

const attempt = async (action: Action, lockOwner: string, session: ConvergeContext): Promise<StepOutcome> => {
  const { step } = action;
  const { secrets, redact, signal } = session;
  const failed = (failure: StepFailure, output: string): StepOutcome => ({
    kind: 'step failed',
    error: new StepError(step, { failure, output }, redact),
  });
  const fetchSecret = onDemandSecretOf(action, session);
  let needsSecret = false;
  if (action.stamped || fetchSecret !== undefined) {
    const found = await execute(action, 'check', lockOwner, session);
    if (found.kind !== 'finished') return found;
    // A step without a stamp must run to get one.
    if (found.result === 'unchanged' && action.stamped) return found;
    needsSecret = found.needsPayload;
  }
  // An invalid secret is not sent.
  const violation = violationOf(step, session);
  if (violation !== undefined) return failed('secret refused', violation);
  for (const artifact of action.needs) {
    const outcome = await push(action, artifact, session);
    if (outcome.kind === 'failed') return failed('artifact not pushed', outcome.problem);
    if (outcome.kind !== 'pushed' && outcome.kind !== 'already there') return interruptedBy(outcome, step.name);
  }
  if (fetchSecret === undefined || !needsSecret) return execute(action, 'converge', lockOwner, session);
  let answer: OnDemandSecret;
  try {
    answer = await fetchSecret(signal);
  } catch (error) {
    if (signal?.aborted === true) return { kind: 'aborted', during: step.name };
    throw error;
  }
  if (answer.kind === 'problem') return failed('no secret', answer.message);
  addSecret(redact, answer.secret);
  const actionsRunnerToken = answer.secret;
  return execute(action, 'converge', lockOwner, { ...session, secrets: { ...secrets, actionsRunnerToken } });
};

/** The source of the on-demand secret of a step. Undefined if it needs none, is deferred, or its secret is given. */
const onDemandSecretOf = (
  { step, deferReason }: Action,
  { spec, secrets, onDemandSecrets }: ConvergeContext,
): OnDemandSecrets[keyof OnDemandSecrets] => {
  const name = step.onDemandSecret;
  if (name === undefined || deferReason !== undefined || secrets[name] || step.intent(spec) === undefined)
    return undefined;
  return onDemandSecrets[name];
};

const violationOf = (step: AnyStep, { spec, secrets }: ConvergeContext): string | undefined => {
  const intent = step.intent(spec);
  if (intent === undefined) return undefined;
  try {
    step.payload?.(intent, secrets);
  } catch (error) {
    return errorMessage(error);
  }
  return step.violation?.(intent, secrets);
};

const execute = (
  { step, hash }: Action,
  verb: StepRunOptions['verb'],
  lockOwner: string,
  { connection, spec, secrets, idle, redact, signal }: ConvergeContext,
): Promise<StepOutcome> => {
  const run = stepRun(step, spec, secrets, { verb, hash, lockOwner, idle, transport: connection.address.transport });
  return executeStep(connection, step, verb, run, redact, signal);
};

const push = async (
  { step, stored }: Action,
  artifact: Artifact,
  { connection, report, signal }: ConvergeContext,
): Promise<PushOutcome> => {
  const about = { step: step.name, artifact: artifact.name, size: artifact.size };
  report({ kind: 'artifact started', ...about });
  const outcome = await pushArtifact(connection, artifact, { isMissing: !stored.has(artifact.sha256), signal });
  if (outcome.kind === 'pushed' || outcome.kind === 'already there')
    report({ kind: 'artifact finished', ...about, sent: outcome.kind === 'pushed' ? artifact.size : 0 });
  return outcome;
};
