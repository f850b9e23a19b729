import type { MacHostSpec, MacHostStatus } from '@tartan/api';
import type { Limits } from './limits.ts';

/** All that matters of one Mac. */
export interface Snapshot {
  readonly id: string;
  readonly spec: MacHostSpec;
  /** What is remembered; what the Mac is comes from `server`. */
  readonly status: MacHostStatus;
  readonly server: ServerView;
  readonly holder: Holder;
  /** Machines that have reserved it, or merely bear its name. `spec.consumerRef` is not asked. */
  readonly claimants: readonly Claimant[];
  readonly poolPrefixes: ReadonlySet<string>;
  /** Why a person has told us to leave the Mac alone. */
  readonly abandoned: string | undefined;
  /** Nodes that say that they are this Mac, and take Pods. */
  readonly openNodes: readonly string[];
  /** Of a Mac that is free: machines look for one like it. `family`: it is to be reinstalled with that, in so many milliseconds. */
  readonly otherOS: { readonly family: string | undefined; readonly inMs: number } | undefined;
  /** Why nothing may be done to it, for people. */
  readonly pauses: readonly string[];
  /** For a pool name, should one be needed. */
  readonly suffix: string;
  readonly now: number;
  readonly limits: Limits;
}

/** `fresh`: Scaleway was asked for this very server in this pass. Nothing is done to a server on anything older. */
export type ServerView =
  | { readonly kind: 'seen'; readonly server: ServerFacts; readonly at: number; readonly fresh: boolean }
  /** Not in the list of its zone; with `fresh` Scaleway does not know it. */
  | { readonly kind: 'missing'; readonly fresh: boolean }
  | { readonly kind: 'unknown'; readonly why: string };

export interface ServerFacts {
  readonly name: string;
  readonly type: string;
  readonly status: string;
  readonly os: { readonly name: string; readonly family: string } | undefined;
  readonly ip: string;
}

/** The object of `spec.consumerRef`. */
export type Holder =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'alive';
      readonly type: string;
      /** It was made ready once: virtual machines may run there. */
      readonly provisioned: boolean;
      /** Read from the API server in this pass. */
      readonly fresh: boolean;
    }
  /** The cache has no machine of that UID, or one with another server. It may be behind: ask the API server. */
  | { readonly kind: 'unseen' }
  | { readonly kind: 'gone' }
  | { readonly kind: 'elsewhere'; readonly serverID: string }
  /** Not of a kind that we know. Somebody else's business. */
  | { readonly kind: 'unknown' };

export interface Claimant {
  /** `namespace/name` */
  readonly key: string;
  readonly by: 'name' | 'serverID';
}

/** The view of a server that has been seen. */
export type Seen = Extract<ServerView, { kind: 'seen' }>;
export type Release = NonNullable<MacHostSpec['release']>;
export type Wipe = NonNullable<MacHostStatus['wipe']>;
export type Claim = NonNullable<MacHostStatus['claim']>;
export type Quarantine = NonNullable<MacHostStatus['quarantine']>;
