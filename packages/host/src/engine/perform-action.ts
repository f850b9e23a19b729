import type { Redactor } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import type { Artifact } from '../artifacts/artifact.ts';
import { pushArtifact, pushProblem } from '../artifacts/push-artifact.ts';
import type { HostConnection } from '../connection/connection.ts';
import type { HostSecrets, OnDemandSecrets, Preparation } from '../host-spec.ts';
import type { AnyStep } from '../steps/step.ts';
import { executeStep, type StepOutcome, stepRun, type StepRunOptions } from './execute-step.ts';
import { type HostEvent, interruptedBy } from './host-outcome.ts';
import type { Action } from './plan.ts';
import { addSecret } from './redaction.ts';
import { StepError } from './step-error.ts';

type SecretSource = NonNullable<OnDemandSecrets[keyof OnDemandSecrets]>;

/** The source of the on-demand secret of a step. Undefined if it is deferred, or its secret is given. */
const onDemandSecretOf = (
  { step, deferReason }: Action,
  { spec, secrets, onDemandSecrets }: Pick<ConvergeContext, 'spec' | 'secrets' | 'onDemandSecrets'>,
): SecretSource | undefined => {
  if (step.onDemandSecret === undefined || deferReason !== undefined || secrets[step.onDemandSecret]) return undefined;
  return step.intent(spec) === undefined ? undefined : onDemandSecrets[step.onDemandSecret];
};

/** The context with the secret, which is redacted from now on; or the failure. */
const withOnDemandSecret = async (
  step: AnyStep,
  ask: SecretSource,
  session: ConvergeContext,
): Promise<ConvergeContext | StepOutcome> => {
  const { redact, signal } = session;
  const answer = await requestSecret(ask, signal);
  if (answer === undefined) return { kind: 'aborted', during: step.name };
  if (answer.kind === 'problem')
    return { kind: 'failed', error: new StepError(step, { failure: 'no secret', output: answer.message }, redact) };
  addSecret(redact, answer.secret);
  const given: HostSecrets = step.onDemandSecret === undefined ? {} : { [step.onDemandSecret]: answer.secret };
  return { ...session, secrets: { ...session.secrets, ...given } };
};

/** Undefined: aborted. */
const requestSecret = async (
  ask: SecretSource,
  signal: AbortSignal | undefined,
): Promise<Awaited<ReturnType<SecretSource>> | undefined> => {
  try {
    return await ask(signal);
  } catch (error) {
    if (signal?.aborted === true) return undefined;
    throw error;
  }
};

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
    result: outcome.kind === 'finished' ? outcome.result : outcome.kind === 'failed' ? 'failed' : 'cut short',
    differences: outcome.kind === 'finished' ? outcome.differences : [],
    durationMs: session.clock.monotonic() - started,
  });
  return outcome;
};

const attempt = async (action: Action, lockOwner: string, session: ConvergeContext): Promise<StepOutcome> => {
  const ask = onDemandSecretOf(action, session);
  let needsSecret = false;
  if (action.stamped || ask !== undefined) {
    const found = await execute(action, 'check', lockOwner, session);
    if (found.kind !== 'finished') return found;
    // Without a stamp it runs, to get one.
    if (found.result === 'unchanged' && action.stamped) return found;
    needsSecret = found.needsPayload;
  }
  const refused = secretViolation(action, session);
  if (refused !== undefined) return refused;
  for (const artifact of action.needs) {
    const failed = await push(action, artifact, session);
    if (failed !== undefined) return failed;
  }
  if (ask === undefined || !needsSecret) return execute(action, 'converge', lockOwner, session);
  const asked = await withOnDemandSecret(action.step, ask, session);
  return 'kind' in asked ? asked : execute(action, 'converge', lockOwner, asked);
};

/** An invalid secret is not sent. */
const secretViolation = ({ step }: Action, { spec, secrets, redact }: ConvergeContext): StepOutcome | undefined => {
  const output = violationOf(step, spec, secrets);
  if (output === undefined) return undefined;
  return { kind: 'failed', error: new StepError(step, { failure: 'secret refused', output }, redact) };
};

const violationOf = (step: AnyStep, spec: Preparation, secrets: HostSecrets): string | undefined => {
  const intent = step.intent(spec);
  if (intent === undefined) return undefined;
  try {
    step.payload?.(intent, secrets);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
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

/** Pushes an artifact. Undefined: success. */
const push = async (
  { step, stored }: Action,
  artifact: Artifact,
  { connection, redact, report, signal }: ConvergeContext,
): Promise<StepOutcome | undefined> => {
  const about = { step: step.name, artifact: artifact.name, size: artifact.size };
  report({ kind: 'artifact started', ...about });
  const outcome = await pushArtifact(connection, artifact, {
    isMissing: !stored.has(artifact.sha256),
    ...(signal !== undefined && { signal }),
  });
  const problem = pushProblem(artifact, outcome);
  if (problem === undefined) {
    report({ kind: 'artifact finished', ...about, sent: outcome.kind === 'pushed' ? artifact.size : 0 });
    return undefined;
  }
  if (
    outcome.kind === 'not pushed' &&
    outcome.outcome.kind !== 'command failed' &&
    outcome.outcome.kind !== 'input failed'
  ) {
    return interruptedBy(outcome.outcome, step.name);
  }
  return { kind: 'failed', error: new StepError(step, { failure: 'artifact not pushed', output: problem }, redact) };
};
