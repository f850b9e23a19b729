import type { ReleaseReason } from '@tartan/api';
import type { WorkOutcome } from '../host-work/host-work.ts';

/** What to do next about a machine. One thing: the next pass observes again. */
export type Decision =
  // Deletion.
  /** It is being deleted, and has no finalizer of ours. */
  | { readonly kind: 'ignore' }
  /** Its runner runs a job, or that is unknown. */
  | { readonly kind: 'await runner'; readonly message: string }
  | { readonly kind: 'remove runner'; readonly id: number }
  /** `runnerLeft`: why GitHub still lists its runner, for users. */
  | { readonly kind: 'release'; readonly poolPrefix: string; readonly runnerLeft?: string }
  | { readonly kind: 'await wipe'; readonly message: string; readonly forMs: number }
  | { readonly kind: 'clean up'; readonly reason: CleanUpReason; readonly runnerLeft?: string }

  // Before anything else.
  | { readonly kind: 'add finalizer' }
  /** Annotates it, so that `clusterctl move` fails before it deletes anything. */
  | { readonly kind: 'block move' }
  | { readonly kind: 'pause'; readonly why: string }
  | { readonly kind: 'await cluster'; readonly message: string }
  /** It gets neither a Mac nor an identity until a user changes something. */
  | { readonly kind: 'refuse'; readonly reason: 'NotAllowed' | 'NodeNameTaken'; readonly message: string }

  // Until it has a Mac.
  | {
      readonly kind: 'cannot claim';
      readonly reason:
        | 'NoAdoptPoolPrefix'
        | 'PoolPrefixNotAllowed'
        | 'InvalidOSPin'
        | 'NoAvailableHost'
        | 'CredentialsPersistFailed';
      readonly message: string | undefined;
    }
  | { readonly kind: 'await key'; readonly message: string }
  | { readonly kind: 'reserve'; readonly serverID: string }
  | { readonly kind: 'take' }
  | { readonly kind: 'await host'; readonly message: string; readonly forMs: number }
  | { readonly kind: 'detach host'; readonly message: string }
  | { readonly kind: 'lost host'; readonly reason: 'HostGone' | 'HostReleased'; readonly message: string }
  | { readonly kind: 'fetch credentials' }
  | { readonly kind: 'set provider id' }

  // Until its Mac is provisioned.
  | { readonly kind: 'bootstrap' }
  /** A while after a failure, or while the Mac restarts. */
  | { readonly kind: 'back off'; readonly forMs: number; readonly reason: 'failure' | 'reboot' | 'no login' }
  | { readonly kind: 'reboot' }
  | {
      readonly kind: 'release failed host';
      readonly reason: Extract<ReleaseReason, 'BootstrapExhausted'>;
      readonly poolPrefix: string;
    }

  // Afterwards.
  | { readonly kind: 'retire token'; readonly certificateExpires: number | undefined }
  | { readonly kind: 're-register'; readonly newJoin: boolean; readonly reason: string }
  | { readonly kind: 'roll back'; readonly hash: string }
  /** An earlier refusal no longer counts. */
  | { readonly kind: 'clear refusal'; readonly reason: 'another hash' | 'cooldown' }
  | { readonly kind: 'uncordon' }
  | { readonly kind: 'roll'; readonly hash: string; readonly idle: boolean }
  | { readonly kind: 'wait'; readonly drift: Drift; readonly forMs: number };

const passive = [
  'ignore',
  'pause',
  'await cluster',
  'await key',
  'await host',
  'await runner',
  'await wipe',
  'cannot claim',
  'lost host',
  'back off',
  'wait',
] as const satisfies readonly Decision['kind'][];

/** Decisions that only wait and report. */
export type WaitingDecision = Extract<Decision, { readonly kind: (typeof passive)[number] }>;

export const isPassive = (decision: Decision): decision is WaitingDecision =>
  passive.some((kind) => kind === decision.kind);

/** A free Mac is all that the machine lacks. */
export const waitsForHost = (decision: Decision): boolean =>
  decision.kind === 'cannot claim' && decision.reason === 'NoAvailableHost';

/** The login of its Mac is what the machine lacks. */
export const lacksLogin = (decision: Decision): boolean =>
  decision.kind === 'fetch credentials' || (decision.kind === 'back off' && decision.reason === 'no login');

/** The decision is carried out with a slot for pushes. */
export const needsSlot = ({ kind }: Decision): boolean =>
  kind === 'bootstrap' || kind === 're-register' || kind === 'roll' || kind === 'roll back';

/** What happens to the Mac of a deleted machine. */
export type CleanUpReason =
  | 'no host'
  | 'released'
  /** Its pool is unknown. */
  | 'skipped'
  /** Scaleway no longer knows it. */
  | 'host gone'
  /** Scaleway does not wipe it. The MacHost controller keeps trying. */
  | 'not wiped'
  /** A user has annotated it as abandoned. */
  | 'abandoned';

/** Why the Mac does not have the desired state. */
export type Drift =
  | 'up to date'
  | 'not reported'
  | 'no turn'
  | 'waiting for idle'
  /** It was refused, and the retry is not due yet. */
  | 'refused'
  /** The last attempt was a moment ago. */
  | 'pausing'
  /** The desired state is unknown. */
  | 'no plan'
  /** There is no SSH key to connect with. */
  | 'no key';

/** The result of a decision. */
export type ActionResult =
  /** Reported before a long action. */
  | { readonly kind: 'started' }
  | { readonly kind: 'done' }
  /** The maximum number of pushes is running. */
  | { readonly kind: 'no slot' }
  /** A live read right before the action showed that it is no longer needed. */
  | { readonly kind: 'stale' }
  /** Not tried, or refused: the last attempt says why and what to do. */
  | { readonly kind: 'blocked' }
  | { readonly kind: 'pushed'; readonly outcome: WorkOutcome };

export const succeeded: ActionResult = { kind: 'done' };
export const stale: ActionResult = { kind: 'stale' };
export const noSlot: ActionResult = { kind: 'no slot' };
export const blocked: ActionResult = { kind: 'blocked' };
