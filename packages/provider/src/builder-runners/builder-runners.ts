import type { ScalewayAppleSiliconMachine } from '@tartan/api';
import type { CallOptions, Secret } from '@tartan/kube';

type Machine = Pick<ScalewayAppleSiliconMachine, 'metadata' | 'spec'>;

export type RunnerToken =
  | { readonly kind: 'known'; readonly token: Secret }
  /** For people: why there is none, and what to do. Its reason on the machine is GHRunnerRegistrationTokenUnavailable. */
  | { readonly kind: 'problem'; readonly message: string };

/** The runner of a builder, as GitHub lists it. */
export type RunnerSeen =
  | { readonly kind: 'none' }
  | { readonly kind: 'there'; readonly id: number; readonly isBusy: boolean }
  | { readonly kind: 'unknown'; readonly message: string };

/**
 * The runners of builders at GitHub, each asked for as the GitHub App that its machine names. Nothing rejects but for an aborted signal:
 * what GitHub does is data. A runner bears the name of its Node.
 */
export interface BuilderRunners {
  /** What the runner of a machine registers with. A new one each time, good for an hour. */
  registrationToken(machine: Machine, call: CallOptions): Promise<RunnerToken>;
  /** Idempotent. */
  look(machine: Machine, call: CallOptions): Promise<RunnerSeen>;
  /** Takes it off the list, unless it runs a job: then it is there, and busy. Idempotent. */
  remove(machine: Machine, id: number, call: CallOptions): Promise<RunnerSeen>;
}
