import { Readable } from 'node:stream';
import type { Redactor } from '@tartan/kube';
import type { HostAddress, HostConnection } from '../connection/connection.ts';
import type { HostSecrets, Preparation } from '../host-spec.ts';
import type { AnyStep, Step } from '../steps/step.ts';
import { composeStep, scriptText, shellCommand } from './compose-script.ts';
import { type Interrupted, interruptedBy, type StepFailed, type StepResult } from './host-outcome.ts';
import { failureOfExitCode, StepError } from './step-error.ts';

export interface StepRunOptions {
  readonly verb: 'check' | 'converge';
  /** The stamp of the step. */
  readonly hash: string;
  /** The token of the lock; empty without a lock. */
  readonly lockOwner: string;
  /** No virtual machine runs on the host. */
  readonly idle: boolean;
  /** The network of the connection. */
  readonly transport?: HostAddress['transport'];
}

/** The script and the standard input of a step. */
export interface StepRun {
  readonly script: string;
  readonly payload: string | undefined;
}

/** Why a step may check and stamp, but not apply changes now. */
export type DeferReason = 'the host is not idle' | 'the connection runs over it';

export const deferReasonOf = (
  step: Pick<Step, 'needsIdle' | 'restartsTransport'>,
  { idle, transport }: Pick<StepRunOptions, 'idle' | 'transport'>,
): DeferReason | undefined => {
  if (step.restartsTransport !== undefined && step.restartsTransport === transport)
    return 'the connection runs over it';
  return step.needsIdle === true && !idle ? 'the host is not idle' : undefined;
};

/** Also in `step.sh`. A payload without it is truncated. */
const payloadEnd = '\n-- end of payload --';

const yesOrNo = (value: boolean | undefined): string => (value === true ? 'yes' : 'no');

/** The script of a step for this host. It depends only on the intent of the step. */
export const stepRun = (step: AnyStep, spec: Preparation, secrets: HostSecrets, options: StepRunOptions): StepRun => {
  const intent = step.intent(spec);
  const payload = intent === undefined || options.verb === 'check' ? undefined : step.payload?.(intent, secrets);
  const variables = {
    ...(intent === undefined ? {} : step.environment(intent)),
    VERB: options.verb,
    WANT: intent === undefined ? 'absent' : 'present',
    STEP: step.name,
    HASH: options.hash,
    LOCK_OWNER: options.lockOwner,
    AS_ROOT: yesOrNo(step.unprivileged !== true),
    MAY_APPLY: yesOrNo(deferReasonOf(step, options) === undefined),
    NEEDS_REBOOT: yesOrNo(step.needsReboot),
    HAS_PAYLOAD: yesOrNo(payload !== undefined),
  };
  return {
    script: composeStep(step.script ?? scriptText(step.name), variables),
    payload: payload === undefined ? undefined : payload + payloadEnd,
  };
};

export type StepOutcome =
  | {
      readonly kind: 'finished';
      readonly result: StepResult;
      readonly differences: readonly string[];
      /** The difference cannot be repaired without the payload. */
      readonly needsPayload: boolean;
    }
  | StepFailed
  | Interrupted;

/** Runs a script that ends with a result line: a step, or the rollback of the agent. Without that line it has failed. */
export const executeStep = async (
  connection: Pick<HostConnection, 'run'>,
  step: Pick<AnyStep, 'name' | 'title' | 'deadline' | 'unprivileged'>,
  verb: StepRunOptions['verb'],
  { script, payload }: StepRun,
  redact: Redactor,
  signal?: AbortSignal,
): Promise<StepOutcome> => {
  const command = shellCommand(script, { asRoot: step.unprivileged !== true });
  const outcome = await connection.run(
    {
      command,
      deadline: step.deadline,
      ...(payload === undefined ? {} : { stdin: () => Readable.from([Buffer.from(payload)]) }),
    },
    signal,
  );
  if (outcome.kind === 'command failed') {
    const { code: exitCode, signal: killedBy, stderr } = outcome;
    const failure = failureOfExitCode(exitCode);
    return {
      kind: 'step failed',
      error: new StepError(step, { failure, exitCode, signal: killedBy, output: stderr }, redact),
    };
  }
  if (outcome.kind !== 'done') {
    const interrupted = interruptedBy(outcome, step.name);
    return interrupted.kind === 'connection lost'
      ? { ...interrupted, cause: redact.text(interrupted.cause) }
      : interrupted;
  }
  const lines = outcome.stdout.trimEnd().split('\n');
  const result = resultOf(lines.pop() ?? '', verb);
  if (result === undefined) {
    const output = `${outcome.stdout}\n${outcome.stderr}`;
    return { kind: 'step failed', error: new StepError(step, { failure: 'no result', exitCode: 0, output }, redact) };
  }
  const differences = lines
    .filter((line) => line.startsWith('differs\t'))
    .map((line) => line.slice('differs\t'.length));
  return {
    kind: 'finished',
    result,
    differences: differences.map((line) => redact.text(line)),
    needsPayload: lines.includes('needs\tpayload'),
  };
};

/** The error of a step that failed or exceeded its deadline. Undefined: the run was interrupted, which says nothing about the step. */
export const stepErrorOf = (
  step: AnyStep,
  outcome: Exclude<StepOutcome, { kind: 'finished' }>,
  redact: Redactor,
): StepError | undefined => {
  if (outcome.kind === 'step failed') return outcome.error;
  if (outcome.kind !== 'timed out') return undefined;
  return new StepError(step, { failure: 'timed out', output: `${outcome.after / 1000} seconds` }, redact);
};

const results: Readonly<Record<StepRunOptions['verb'], readonly StepResult[]>> = {
  check: ['unchanged', 'different'],
  converge: ['unchanged', 'applied', 'removed', 'deferred'],
};

const resultOf = (line: string, verb: StepRunOptions['verb']): StepResult | undefined =>
  results[verb].find((result) => line === `result\t${result}`);
