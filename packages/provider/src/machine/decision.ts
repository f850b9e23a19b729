import type { ReleaseReason } from '@tartan/api';
import type { WorkOutcome } from '../host-work/host-work.ts';

/** What is to be done about a machine next. One thing: the pass after it looks at the world again. */
export type Decision =
  // An end.
  /** It goes, and nothing of ours holds it. */
  | { readonly kind: 'ignore' }
  /** Its runner runs a job, or nobody knows whether it does. */
  | { readonly kind: 'await runner'; readonly message: string }
  | { readonly kind: 'remove runner'; readonly id: number }
  /** `runnerLeft`: why GitHub still lists its runner, for people. */
  | { readonly kind: 'release'; readonly poolPrefix: string; readonly runnerLeft?: string }
  | { readonly kind: 'await wipe'; readonly message: string }
  | { readonly kind: 'clean up'; readonly because: CleanUpReason; readonly runnerLeft?: string }

  // Before anything is done.
  | { readonly kind: 'add finalizer' }
  /** Annotates it, so that `clusterctl move` fails before it deletes anything. */
  | { readonly kind: 'block move' }
  | { readonly kind: 'pause'; readonly why: string }
  | { readonly kind: 'await cluster'; readonly message: string }
  /** Neither a Mac nor an identity, until a person changes something. */
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
  | { readonly kind: 'await host'; readonly message: string }
  | { readonly kind: 'detach host'; readonly message: string }
  | { readonly kind: 'lost host'; readonly reason: 'HostGone' | 'HostReleased'; readonly message: string }
  | { readonly kind: 'fetch credentials' }
  | { readonly kind: 'set provider id' }

  // Until its Mac is ready.
  | { readonly kind: 'bootstrap' }
  /** A moment after a failure, or while the Mac restarts. */
  | { readonly kind: 'back off'; readonly forMs: number; readonly because: 'failure' | 'reboot' | 'no password' }
  | { readonly kind: 'reboot' }
  | {
      readonly kind: 'release failed host';
      readonly reason: Extract<ReleaseReason, 'BootstrapExhausted'>;
      readonly poolPrefix: string;
    }

  // From then on.
  | { readonly kind: 'retire token'; readonly certificateExpires: number | undefined }
  | { readonly kind: 're-register'; readonly newJoin: boolean; readonly because: string }
  | { readonly kind: 'roll back'; readonly hash: string }
  /** A verdict of the past does not count any more. */
  | { readonly kind: 'clear refusal'; readonly because: 'another hash' | 'cooldown' }
  | { readonly kind: 'uncordon' }
  | { readonly kind: 'roll'; readonly hash: string; readonly idle: boolean }
  | { readonly kind: 'wait'; readonly drift: Drift; readonly forMs: number };

const passive: ReadonlySet<Decision['kind']> = new Set([
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
]);

/** It only waits, and says so. */
export const isPassive = ({ kind }: Decision): boolean => passive.has(kind);

/** How the Mac of a machine that is deleted is left behind. */
export type CleanUpReason =
  | 'no host'
  | 'released'
  /** Nobody said which pool it goes to. */
  | 'skipped'
  /** Scaleway does not know it any more. */
  | 'host gone'
  /** Scaleway does not wipe it. Its MacHost goes on trying. */
  | 'not wiped'
  /** A person wants it to be left alone. */
  | 'abandoned';

/** What stands between the Mac and what it shall have. */
export type Drift =
  | 'up to date'
  | 'not reported'
  | 'no turn'
  | 'waiting for idle'
  /** It was refused, and it is not time yet to try again. */
  | 'refused'
  /** Something was tried a moment ago. */
  | 'pausing'
  /** It is not known what it shall have. */
  | 'no plan'
  /** There is no SSH key to do anything with. */
  | 'no key';

/** What came of a decision. */
export type ActionResult =
  /** Said before something that takes long. */
  | { readonly kind: 'started' }
  | { readonly kind: 'done' }
  /** As many pushes run as may. */
  | { readonly kind: 'no slot' }
  /** A look at the server, right before the act, found that it is not called for any more. */
  | { readonly kind: 'stale' }
  /** It was not even tried, or was refused: the last attempt says why and what to do. */
  | { readonly kind: 'blocked' }
  | { readonly kind: 'pushed'; readonly outcome: WorkOutcome };

export const succeeded: ActionResult = { kind: 'done' };
export const stale: ActionResult = { kind: 'stale' };
export const noSlot: ActionResult = { kind: 'no slot' };
export const blocked: ActionResult = { kind: 'blocked' };
