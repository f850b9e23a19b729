import type {
  ConnectOutcome,
  HostAddress,
  HostEvent,
  HostOutcome,
  HostSecrets,
  HostSpec,
  Interrupted,
  Locked,
  OnDemandSecrets,
  RollBackOutcome,
  StepError,
} from '@tartan/host';

/** A task on one Mac over SSH. */
export interface HostJob {
  /** The server's address, then the tailnet name if it has one. Tried in this order. */
  readonly addresses: readonly HostAddress[];
  readonly privateKey: string;
  readonly user: string;
  /** The host key of this install. `undefined`: this is the machine's first contact with this install. */
  readonly pinnedHostKey: string | undefined;
  /** Host keys of earlier installs of this Mac: one of them means that it was not wiped. */
  readonly retiredHostKeys: readonly string[];
  /** Stores the host key at the first contact. Nothing is changed on the Mac before it resolves. */
  readonly pin: (hostKey: string) => Promise<void>;
  readonly task: /** Converges the Mac to its spec; `verify` checks every step again, also stamped ones. */
    | {
        readonly kind: 'converge';
        readonly mode: 'changed' | 'verify';
        readonly spec: HostSpec;
        readonly secrets: HostSecrets;
        /** Fetched only when a step needs them. */
        readonly onDemandSecrets?: OnDemandSecrets;
        readonly idle: boolean;
      }
    /** Restores the agent that worked before the last roll. */
    | { readonly kind: 'roll back' };
  /** Owner of the lock on the host: unique among all that push to it. */
  readonly owner: string;
  readonly report?: (event: HostEvent) => void;
}

/** The outcome. A retry is safe after each of them. Messages are for users and contain no secret. */
export type WorkOutcome =
  | {
      readonly kind: 'done';
      /** Hash of the stamps that the Mac has now. */
      readonly summary: string;
      /** Steps that wait for an idle host, or for another connection. */
      readonly deferred: readonly { readonly step: string; readonly reason: string }[];
      readonly optionalFailures: readonly string[];
      readonly rebootPending: boolean;
    }
  /** No address answered, the connection was lost, or a deadline passed: says nothing about what was sent (INC-13). */
  | { readonly kind: 'unreachable'; readonly message: string }
  /** Another key than the pinned one. Nothing was sent. */
  | { readonly kind: 'host key changed'; readonly message: string }
  /** The first contact found a retired key, or stamps of an earlier machine. Nothing was changed. */
  | { readonly kind: 'not wiped'; readonly message: string; readonly hostKey: string }
  | { readonly kind: 'locked'; readonly message: string }
  /** The Mac, or one of the steps, refused. */
  | { readonly kind: 'rejected'; readonly step: string; readonly message: string }
  /** By the caller's signal. */
  | { readonly kind: 'aborted' };

export interface HostWork {
  /** Never rejects because of what a Mac does. */
  perform(job: HostJob, signal: AbortSignal): Promise<WorkOutcome>;
}

/** Converts the outcome of convergence. */
export const outcomeOfHost = (
  outcome: HostOutcome | Exclude<RollBackOutcome, { kind: 'rolled back' }>,
): WorkOutcome => {
  switch (outcome.kind) {
    case 'converged':
      return {
        kind: 'done',
        summary: outcome.summary,
        deferred: outcome.deferred,
        optionalFailures: outcome.optionalFailures.map(({ message }) => message),
        rebootPending: outcome.rebootPending,
      };
    case 'step failed':
      return outcomeOfStep(outcome.error);
    case 'locked':
      return outcomeOfLock(outcome);
    case 'unsuitable host':
      return {
        kind: 'rejected',
        step: 'pre-flight',
        message: `Nothing was changed on the Mac: ${outcome.objections.map(({ what, advice }) => `${what}. ${advice}`).join(' ')}`,
      };
    case 'unreadable host':
      return unreadableHost(outcome.cause);
    case 'connection lost':
    case 'timed out':
    case 'aborted':
      return outcomeOfInterruption(outcome);
  }
};

/** Converts the outcome of a roll back. */
export const outcomeOfRollBack = (outcome: RollBackOutcome): WorkOutcome => {
  if (outcome.kind !== 'rolled back') return outcomeOfHost(outcome);
  const { summary, rebootPending } = outcome;
  return { kind: 'done', summary, deferred: [], optionalFailures: [], rebootPending };
};

/** A lost lock says nothing about what was sent: another manager is working on the Mac. Other failures are the Mac's refusal. */
const outcomeOfStep = (error: StepError): WorkOutcome =>
  error.failure === 'lock lost'
    ? { kind: 'locked', message: error.message }
    : { kind: 'rejected', step: error.step, message: error.message };

const outcomeOfLock = ({ by, since, step }: Locked): WorkOutcome => ({
  kind: 'locked',
  message:
    `Somebody else is at work on the Mac: ${by}, since ${since}${step === undefined ? '' : `, in step ${step}`}. ` +
    'It is tried again; a lock without a sign of life ends after half an hour, or when the Mac restarts.',
});

/** It is unknown what was done, and whether the Mac would have refused: so it counts as unreachable (INC-13). */
export const outcomeOfInterruption = (outcome: Interrupted): WorkOutcome => {
  switch (outcome.kind) {
    case 'connection lost':
      return {
        kind: 'unreachable',
        message: `The connection to the Mac was lost during ${outcome.during}: ${outcome.cause}. It is tried again, and goes on where it was.`,
      };
    case 'timed out':
      return {
        kind: 'unreachable',
        message:
          `The Mac did not finish ${outcome.during} within ${Math.round(outcome.after / 1000)} s. It is tried again; ` +
          'if it stays so, see on the Mac what it waits for.',
      };
    case 'aborted':
      return { kind: 'aborted' };
  }
};

export const unreadableHost = (cause: string): WorkOutcome => ({
  kind: 'rejected',
  step: 'inventory',
  message:
    `The Mac answers, but not with what our scripts say: ${cause}. Nothing was changed. ` +
    'See what the login shell of the user prints or does there (.zshenv).',
});

type FailedConnection = Exclude<ConnectOutcome, { kind: 'connected' }>;

/** Converts a failed connection. */
export const outcomeOfConnection = (outcome: FailedConnection, { user, addresses }: HostJob): WorkOutcome => {
  switch (outcome.kind) {
    case 'never connected': {
      const attempts = outcome.attempts.map(({ address, cause }) => `${addressText(address)}: ${cause}`);
      const tried = attempts.length === 0 ? 'no address of it is known' : attempts.join('; ');
      return { kind: 'unreachable', message: `The Mac does not answer on SSH (${tried}). It is tried again.` };
    }
    case 'handshake failed':
      return {
        kind: 'unreachable',
        message: `The Mac at ${addressText(outcome.address)} began to answer on SSH and broke off: ${outcome.cause}. It is tried again.`,
      };
    case 'host key changed':
      return {
        kind: 'host key changed',
        message:
          `The Mac at ${addressText(outcome.address)} shows the SSH host key ${outcome.hostKey}, and this install had ${outcome.expected}. ` +
          'Nothing was sent to it. If somebody reinstalled it, delete the Machine: it is then wiped and claimed anew. ' +
          'Otherwise find out who answers there.',
      };
    case 'authentication refused':
      return {
        kind: 'rejected',
        step: loginStep,
        message:
          `The Mac at ${addressText(outcome.address)} does not let ${user} in with the key of the fleet: the key is not on it. Scaleway puts the ` +
          'keys of the project on a Mac at the first boot of an install only, so one that was registered later never gets there. ' +
          `Reinstall the Mac, or add the public key of the fleet to ~${user}/.ssh/authorized_keys by hand` +
          `${addresses.length > 1 ? ' (the other addresses were not tried: it is the same Mac)' : ''}.`,
      };
  }
};

/** Used in place of a step's name. */
const loginStep = 'login';

const addressText = ({ host, port, transport }: HostAddress): string =>
  `${host.includes(':') ? `[${host}]` : host}:${port}${transport === 'tailnet' ? ' in the tailnet' : ''}`;
