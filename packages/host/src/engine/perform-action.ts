import type { Redactor } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import type { Artifact } from '../artifacts/artifact.ts';
import { pushArtifact } from '../artifacts/push-artifact.ts';
import { pushProblem } from '../artifacts/push-outcome.ts';
import type { HostConnection } from '../connection/connection.ts';
import type { HostSecrets, LateSecrets, Preparation } from '../spec/host-spec.ts';
import type { AnyStep } from '../steps/step.ts';
import { cutShort } from './cut-short.ts';
import { executeStep, type StepOutcome } from './execute-step.ts';
import type { HostEvent } from './host-outcome.ts';
import { lateSecretOf, withLateSecret } from './late-secret.ts';
import type { Action } from './plan.ts';
import { StepError } from './step-error.ts';
import { stepRun, type StepRunOptions } from './step-run.ts';

/** What all actions of one run share. */
export interface Session {
  readonly connection: HostConnection;
  readonly spec: Preparation;
  readonly secrets: HostSecrets;
  readonly lateSecrets: LateSecrets;
  readonly idle: boolean;
  readonly redact: Redactor;
  readonly clock: Clock;
  report(event: HostEvent): void;
  readonly signal?: AbortSignal | undefined;
}

/** Pushes what a step needs and runs it. A step that the host claims to have is looked at first, so that nothing is sent in vain. */
export const performAction = async (action: Action, lockOwner: string, session: Session): Promise<StepOutcome> => {
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
    took: session.clock.monotonic() - started,
  });
  return outcome;
};

const attempt = async (action: Action, lockOwner: string, session: Session): Promise<StepOutcome> => {
  const ask = lateSecretOf(action, session);
  let needsSecret = false;
  if (action.stamped || ask !== undefined) {
    const found = await execute(action, 'check', lockOwner, session);
    if (found.kind !== 'finished') return found;
    // Without a stamp it runs nevertheless, to get one.
    if (found.result === 'unchanged' && action.stamped) return found;
    needsSecret = found.needsPayload;
  }
  const refused = refusal(action, session);
  if (refused !== undefined) return refused;
  for (const artifact of action.needs) {
    const failed = await push(action, artifact, session);
    if (failed !== undefined) return failed;
  }
  if (ask === undefined || !needsSecret) return execute(action, 'converge', lockOwner, session);
  const asked = await withLateSecret(action.step, ask, session);
  return 'kind' in asked ? asked : execute(action, 'converge', lockOwner, asked);
};

/** A secret that cannot do is not even sent. */
const refusal = ({ step }: Action, { spec, secrets, redact }: Session): StepOutcome | undefined => {
  const said = whyNot(step, spec, secrets);
  if (said === undefined) return undefined;
  return { kind: 'failed', error: new StepError(step, { failure: 'secret refused', said }, redact) };
};

const whyNot = (step: AnyStep, spec: Preparation, secrets: HostSecrets): string | undefined => {
  const intent = step.intent(spec);
  if (intent === undefined) return undefined;
  try {
    step.payload?.(intent, secrets);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return step.refuses?.(intent, secrets);
};

const execute = (
  { step, hash }: Action,
  verb: StepRunOptions['verb'],
  lockOwner: string,
  { connection, spec, secrets, idle, redact, signal }: Session,
): Promise<StepOutcome> => {
  const run = stepRun(step, spec, secrets, { verb, hash, lockOwner, idle, transport: connection.address.transport });
  return executeStep(connection, step, verb, run, redact, signal);
};

/** Puts an artifact into the store; an outcome only when that went wrong. */
const push = async (
  { step, stored }: Action,
  artifact: Artifact,
  { connection, redact, report, signal }: Session,
): Promise<StepOutcome | undefined> => {
  const about = { step: step.name, artifact: artifact.name, size: artifact.size };
  report({ kind: 'artifact started', ...about });
  const outcome = await pushArtifact(connection, artifact, {
    isLacking: !stored.has(artifact.sha256),
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
    return cutShort(outcome.outcome, step.name);
  }
  return { kind: 'failed', error: new StepError(step, { failure: 'artifact not pushed', said: problem }, redact) };
};
