import type { LastAttempt, MachineStatus } from '@tartan/api';
import type { FleetKey } from '../fleet-key/controller.ts';
import type { CertificateIdentity, NodeLease } from '../identity/decide-join.ts';
import type { RunnerState } from './builder-runners.ts';
import type { PresentHost } from './observe/host.ts';

/** All that decisions on a machine depend on. Times in milliseconds. Plain data, so that tests can create any snapshot. */
export interface Snapshot {
  readonly now: number;
  readonly policy: Policy;
  readonly machine: MachineFacts;
  readonly cluster: ClusterFacts;
  readonly fleetKey: KeyFacts;
  /** The Mac that would be claimed. Only while the machine has none. */
  readonly choice: ChoiceFacts;
  /** The Mac of `status.serverID`. */
  readonly host: HostFacts;
  readonly login: LoginFacts;
  /** Its last read from Scaleway, if that failed, as far as this process knows. */
  readonly failedRead: FailedRead | undefined;
  readonly node: NodeFacts;
  /** For a builder that is being deleted. */
  readonly runner: RunnerFacts;
  readonly join: JoinFacts;
  readonly desired: DesiredFacts;
  readonly turn: TurnFacts | undefined;
  /** The Node has no Pod with a virtual machine, and the builder's runner has no job. Undefined: not needed. */
  readonly idle: boolean | undefined;
}

/** From flags; `undefined`: never. */
export interface Policy {
  readonly rebootAfter: number | undefined;
  readonly giveUpAfter: number | undefined;
  readonly updateGiveUpAfter: number | undefined;
  readonly updateRetryAfterMs: number | undefined;
}

export interface MachineFacts {
  readonly name: string;
  readonly deleting: boolean;
  /** It has our finalizer. */
  readonly hasFinalizer: boolean;
  /** It has the annotation that blocks `clusterctl move`. */
  readonly blocksMove: boolean;
  readonly providerID: string | undefined;
  /** `spec.os` names an image, not a family. */
  readonly versionedPin: boolean;
  /** Of the machine, else the manager's default. */
  readonly poolPrefix: string | undefined;
  /** Pools that the manager may claim from. A held Mac is released to its own pool regardless. */
  readonly allowedPoolPrefixes: readonly string[];
  /** Counters, verdicts and reservations of earlier passes. */
  readonly status: MachineStatus;
}

export interface Refusal {
  readonly reason: 'NamespaceNotAllowed' | 'NotInCluster';
  readonly message: string;
}

export interface ClusterFacts {
  /** Why it is paused, in words. */
  readonly pauseReasons: readonly string[];
  /** Why the machine may not claim a Mac; `undefined`: it may. */
  readonly refusal?: Refusal | undefined;
  /** What Cluster API has to do before its machine may be reconciled; `undefined`: nothing. */
  readonly waitingFor: string | undefined;
}

type KeyFacts =
  | Exclude<FleetKey, { kind: 'ready' }>
  /** Without the key itself. */
  | { readonly kind: 'ready' };

export type ChoiceFacts =
  | { readonly kind: 'not asked' }
  | { readonly kind: 'chosen'; readonly serverID: string }
  | { readonly kind: 'none'; readonly message: string };

export type HostFacts =
  /** No host is reserved. */
  | { readonly kind: 'none' }
  /** There is no MacHost: the inventory creates one, unless Scaleway does not know the server either. */
  | { readonly kind: 'absent'; readonly server: 'exists' | 'gone' | 'unknown'; readonly message: string }
  | PresentHost;

export type LoginFacts =
  | { readonly kind: 'missing' }
  /** For another server, so nothing in it is valid. */
  | { readonly kind: 'stale' }
  /** Nothing proves that the Secret belongs to this machine. */
  | { readonly kind: 'foreign'; readonly message: string }
  | { readonly kind: 'known'; readonly hasPassword: boolean };

export interface FailedRead {
  readonly outcome: LastAttempt['outcome'];
  /** Reads that failed alike, for this server and this spec of the machine. */
  readonly inARow: number;
  readonly forMs: number;
}

export type NodeFacts =
  | { readonly kind: 'missing'; readonly forMs: number }
  /** A Node of another server with the name of the machine. The providerID may be empty. */
  | { readonly kind: 'foreign'; readonly providerID: string }
  | {
      readonly kind: 'ours';
      readonly ready: 'True' | 'False' | 'Unknown';
      readonly message: string;
      /** The summary that its agent publishes. */
      readonly summary: string | undefined;
      /** Cordoned, by us or others. */
      readonly unschedulable: boolean;
      readonly cordonedByUs: boolean;
    };

/** The runner of a builder, as GitHub lists it. */
export type RunnerFacts =
  /** Not a builder, or its Mac is not about to be released. */
  | { readonly kind: 'not asked' }
  | Exclude<RunnerState, { kind: 'unknown' }>
  | (Extract<RunnerState, { kind: 'unknown' }> & {
      /** How long GitHub has not answered, as far as this process knows. */
      readonly forMs: number;
      /** It had a job in GitHub's last answer. */
      readonly wasBusy: boolean;
    });

export interface JoinFacts {
  readonly lease: NodeLease | undefined;
  /** The certificate issued for the recorded token. */
  readonly identity: CertificateIdentity | undefined;
}

type DesiredFacts =
  | { readonly kind: 'not asked' }
  | { readonly kind: 'known'; readonly hash: string }
  | { readonly kind: 'problem'; readonly message: string };

/** This machine's turn in the roll of its fleet, by UID. */
interface TurnFacts {
  readonly hash: string;
  readonly rollBack: boolean;
}

/** Its Mac was provisioned once: virtual machines may run there. */
export const isProvisioned = ({ initialization }: MachineStatus): boolean => initialization?.provisioned === true;
