import type { HostAddress } from '../connection/connection.ts';
import type { HostSecrets, Preparation } from '../spec/host-spec.ts';
import type { Step } from '../steps/step.ts';
import { composeStep, scriptText } from './compose-script.ts';

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
export type Obstacle = 'the host is not idle' | 'the connection runs over it';

export const obstacleOf = (
  step: Pick<Step, 'needsIdle' | 'restartsTransport'>,
  { idle, transport }: Pick<StepRunOptions, 'idle' | 'transport'>,
): Obstacle | undefined => {
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
    MAY_APPLY: yesOrNo(obstacleOf(step, options) === undefined),
    NEEDS_REBOOT: yesOrNo(step.needsReboot),
    HAS_PAYLOAD: yesOrNo(payload !== undefined),
  };
  return {
    script: composeStep(step.script ?? scriptText(step.name), variables),
    payload: payload === undefined ? undefined : payload + payloadEnd,
  };
};
