import type { HostEvent, HostSecrets, HostSpec, OnDemandSecrets } from '@tartan/host';

/** What is to be done on one Mac over SSH. */
export interface HostJob {
  /** The server's address, and the tailnet name if it has one: tried in this order. */
  readonly addresses: readonly {
    readonly host: string;
    readonly port: number;
    readonly transport: 'public' | 'tailnet';
  }[];
  readonly privateKey: string;
  readonly user: string;
  /** The host key of this install. `undefined`: this machine meets this install for the first time. */
  readonly pinnedHostKey: string | undefined;
  /** Host keys of earlier installs of this Mac: one of them means that it was not wiped. */
  readonly retiredHostKeys: readonly string[];
  /** Stores the host key of a first contact. Nothing is changed on the Mac before it resolves. */
  readonly pin: (hostKey: string) => Promise<void>;
  readonly task: /** Makes the Mac as specified; `verify` looks at every step again, also at those that are stamped. */
    | {
        readonly kind: 'converge';
        readonly mode: 'changed' | 'verify';
        readonly spec: HostSpec;
        readonly secrets: HostSecrets;
        /** Asked for only when a step cannot do without. */
        readonly onDemandSecrets?: OnDemandSecrets;
        readonly idle: boolean;
      }
    /** Puts back the agent that was proven before the last roll. */
    | { readonly kind: 'roll back' };
  /** Of the lock on the host: a name that nobody else has who pushes to it. */
  readonly owner: string;
  readonly report?: (event: HostEvent) => void;
}

/** How it ended. Whatever it was, doing it again is safe. Messages are for people and hold no secret. */
export type WorkOutcome =
  | {
      readonly kind: 'done';
      /** Of the stamps that the Mac bears now. */
      readonly summary: string;
      /** Steps that wait for an idle host, or for another connection. */
      readonly deferred: readonly { readonly step: string; readonly because: string }[];
      readonly optionalFailures: readonly string[];
      readonly rebootPending: boolean;
    }
  /** No address answered, the connection was cut, or a deadline passed: says nothing about what was sent (INC-13). */
  | { readonly kind: 'unreachable'; readonly message: string }
  /** Another key than the pinned one. Nothing was sent. */
  | { readonly kind: 'host key changed'; readonly message: string }
  /** First contact met a retired key, or stamps of an earlier machine. Nothing was changed. */
  | { readonly kind: 'not wiped'; readonly message: string; readonly hostKey: string }
  | { readonly kind: 'locked'; readonly message: string }
  /** The Mac, or one of its steps, said no. */
  | { readonly kind: 'rejected'; readonly step: string; readonly message: string }
  /** The caller's signal. */
  | { readonly kind: 'aborted' };

export interface HostWork {
  /** Never rejects for what a Mac does. */
  perform(job: HostJob, signal: AbortSignal): Promise<WorkOutcome>;
}
