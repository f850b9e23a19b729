import { Readable } from 'node:stream';
import type { Redactor } from '@tartan/kube';
import type { HostAddress, HostConnection } from '../connection/connection.ts';
import type { HostSecrets, Preparation } from '../host-spec.ts';
import type { AnyStep, Step } from '../steps/step.ts';
import { composeStep, scriptText, shellCommand } from './compose-script.ts';
import { type Interrupted, interruptedBy, type StepResult } from './host-outcome.ts';
import { failureOfExitCode, StepError } from './step-error.ts';

export interface StepRunOptions {
  readonly verb: 'check' | 'converge';
  /** Of the step's intent, as stamped on the host. */
  readonly hash: string;
  /** Who holds the host's lock; empty for a run without one. */
  readonly lockOwner: string;
  /** Whether no virtual machine runs on the host. */
  readonly idle: boolean;
  /** The network that carries the connection. */
  readonly transport?: HostAddress['transport'];
}

/** What is sent to a host to run one step. */
export interface StepRun {
  readonly script: string;
  /** For the standard input. */
  readonly payload: string | undefined;
}

/** Why a step may look and stamp, but change nothing now. */
export type DeferReason = 'the host is not idle' | 'the connection runs over it';

export const deferReasonOf = (
  step: Pick<Step, 'needsIdle' | 'restartsTransport'>,
  { idle, transport }: Pick<StepRunOptions, 'idle' | 'transport'>,
): DeferReason | undefined => {
  if (step.restartsTransport !== undefined && step.restartsTransport === transport)
    return 'the connection runs over it';
  return step.needsIdle === true && !idle ? 'the host is not idle' : undefined;
};

/** Stands in `step.sh` too. Without it a payload counts as cut short. */
const payloadEnd = '\n-- end of payload --';

const yesOrNo = (value: boolean | undefined): string => (value === true ? 'yes' : 'no');

/** The script of a step for this host. All that it learns comes from the step's intent. */
export const stepRun = <Intent extends object, Spec extends Preparation>(
  step: Step<Intent, Spec>,
  spec: Spec,
  secrets: HostSecrets,
  options: StepRunOptions,
): StepRun => {
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
      /** What differs cannot be mended without its payload. */
      readonly needsPayload: boolean;
    }
  | { readonly kind: 'failed'; readonly error: StepError }
  | Interrupted;

/** Runs the script of a step once and says what came of it. Believes nothing but the result line at the very end. */
export const executeStep = async (
  connection: Pick<HostConnection, 'run'>,
  step: AnyStep,
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
      kind: 'failed',
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
    return { kind: 'failed', error: new StepError(step, { failure: 'no result', exitCode: 0, output }, redact) };
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

const results: Readonly<Record<StepRunOptions['verb'], readonly StepResult[]>> = {
  check: ['unchanged', 'different'],
  converge: ['unchanged', 'applied', 'removed', 'deferred'],
};

const resultOf = (line: string, verb: StepRunOptions['verb']): StepResult | undefined =>
  results[verb].find((result) => line === `result\t${result}`);
