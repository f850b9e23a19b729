import type { MachineStatus } from '@tartan/api';
import type { FleetKey } from '../fleet-key/controller.ts';
import type { CertificateIdentity, NodeLease } from '../identity/decide-join.ts';
import type { RunnerState } from './builder-runners.ts';
import type { PresentHost } from './observe/host.ts';

/** All that matters of a machine and its surroundings, at one moment. Times in milliseconds. Plain data: whatever is in it can be made up. */
export interface Snapshot {
  readonly now: number;
  readonly policy: Policy;
  readonly machine: MachineFacts;
  readonly cluster: ClusterFacts;
  readonly fleetKey: KeyFacts;
  /** Which Mac would be claimed. Looked for only while the machine has none. */
  readonly choice: ChoiceFacts;
  /** The Mac that `status.serverID` names. */
  readonly host: HostFacts;
  readonly login: LoginFacts;
  readonly node: NodeFacts;
  /** Of a builder that is being deleted. */
  readonly runner: RunnerFacts;
  readonly join: JoinFacts;
  readonly desired: DesiredFacts;
  readonly turn: TurnFacts | undefined;
  /** No Pod that may have a virtual machine is on the Node, and the runner of a builder has no job. Undefined: nobody had to know. */
  readonly idle: boolean | undefined;
}

/** What people chose; `undefined` is never. */
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
  /** It has the annotation that keeps `clusterctl move` from taking it. */
  readonly blocksMove: boolean;
  readonly providerID: string | undefined;
  /** `spec.os` names an image, not a family. */
  readonly versionedPin: boolean;
  /** Of its own, else of the manager. */
  readonly poolPrefix: string | undefined;
  /** Pools that the manager may claim from. What a machine holds goes back to its own all the same. */
  readonly allowedPoolPrefixes: readonly string[];
  /** Counters, verdicts and reservations: what earlier passes wrote down. */
  readonly status: MachineStatus;
}

export interface Refusal {
  readonly reason: 'NamespaceNotAllowed' | 'NotInCluster';
  readonly message: string;
}

export interface ClusterFacts {
  /** What asks to touch nothing, in words. */
  readonly pauseReasons: readonly string[];
  /** Why no Mac may be claimed for the machine; `undefined` when one may. */
  readonly refusal?: Refusal | undefined;
  /** What Cluster API has yet to do before a machine of its own may be worked on; `undefined` for nothing. */
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
  /** None is reserved. */
  | { readonly kind: 'none' }
  /** There is no MacHost: the inventory makes one, unless Scaleway does not know the server either. */
  | { readonly kind: 'absent'; readonly server: 'exists' | 'gone' | 'unknown'; readonly message: string }
  | PresentHost;

export type LoginFacts =
  | { readonly kind: 'missing' }
  /** Of another server, so nothing in it is true. */
  | { readonly kind: 'stale' }
  /** Nothing proves that the Secret is this machine's. */
  | { readonly kind: 'foreign'; readonly message: string }
  | { readonly kind: 'known'; readonly hasPassword: boolean };

export type NodeFacts =
  | { readonly kind: 'missing'; readonly forMs: number }
  /** Somebody else's, under the name of the machine. The providerID may be empty. */
  | { readonly kind: 'foreign'; readonly providerID: string }
  | {
      readonly kind: 'ours';
      readonly ready: 'True' | 'False' | 'Unknown';
      readonly message: string;
      /** The summary that its agent publishes. */
      readonly summary: string | undefined;
      /** No Pod comes to it, by whomever. */
      readonly unschedulable: boolean;
      readonly cordonedByUs: boolean;
    };

/** The runner of a builder, as GitHub lists it. */
export type RunnerFacts =
  /** It is no builder, or its Mac does not go back now. */
  | { readonly kind: 'not asked' }
  | Exclude<RunnerState, { kind: 'unknown' }>
  | (Extract<RunnerState, { kind: 'unknown' }> & {
      /** Since GitHub has been asked in vain, as far as this process knows. */
      readonly forMs: number;
      /** It had a job when GitHub was last heard. */
      readonly wasBusy: boolean;
    });

export interface JoinFacts {
  readonly lease: NodeLease | undefined;
  /** The certificate that came from the recorded token. */
  readonly identity: CertificateIdentity | undefined;
}

type DesiredFacts =
  | { readonly kind: 'not asked' }
  | { readonly kind: 'known'; readonly hash: string }
  | { readonly kind: 'problem'; readonly message: string };

/** This machine's turn in the roll of its fleet, by name and UID. */
interface TurnFacts {
  readonly hash: string;
  readonly rollBack: boolean;
}

/** Its Mac was made ready once: virtual machines may run there. */
export const isProvisioned = ({ initialization }: MachineStatus): boolean => initialization?.provisioned === true;
