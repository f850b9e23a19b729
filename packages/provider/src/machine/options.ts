import type { MachineStatus } from '@tartan/api';
import {
  type CallOptions,
  type EventRecorder,
  type Gate,
  type ReconcileResult,
  type Redactor,
  requeueAfter,
  type Resource,
} from '@tartan/kube';
import type { HostPool } from '@tartan/scaleway';
import type { ControllerDeps, Informers } from '../controller-deps.ts';
import type { CoreCluster } from '../core/kinds.ts';
import type { ProviderOptions } from '../flags/provider-options.ts';
import type { FleetKeys } from '../fleet-key/controller.ts';
import type { HostSettings } from '../host-work/host-settings.ts';
import type { HostWork } from '../host-work/host-work.ts';
import type { ClusterAddress } from '../identity/join-kubeconfig.ts';
import type { RandomBytes } from '../identity/join-token.ts';
import type { BuilderRunners } from './builder-runners.ts';
import { type ActionResult, stale, succeeded } from './decision.ts';
import type { AttemptResult } from './last-attempt.ts';
import type { MachinePatcher } from './machine.ts';
import type { MachineMemory } from './memory.ts';
import type { Observation } from './observe.ts';
import { intervals } from './requeue.ts';

export interface MachineControllerOptions
  extends ControllerDeps,
    Pick<
      Informers,
      'machines' | 'macHosts' | 'macFleets' | 'nodes' | 'clusters' | 'certificateRequests' | 'machineSecrets'
    >,
    Partial<Pick<Informers, 'tailscaleSecrets'>> {
  /** The resource of `clusters`, for live reads. */
  readonly coreClusters: Resource<CoreCluster>;
  /** Read-only: only the MacHost controller changes servers. */
  readonly pool: Pick<HostPool, 'getServer'>;
  readonly fleetKeys: FleetKeys;
  readonly hostWork: HostWork;
  /** Passed before anything is done on a Mac. */
  readonly gate: Gate;
  readonly settings: HostSettings;
  readonly options: Pick<
    ProviderOptions,
    | 'machineWorkers'
    | 'releaseID'
    | 'secretsNamespace'
    | 'machineNamespaces'
    | 'defaultPoolPrefix'
    | 'allowedPoolPrefixes'
    | 'bootstrap'
    | 'update'
  >;
  /** How Macs reach the API server. */
  readonly address: (call: CallOptions) => Promise<ClusterAddress>;
  readonly builderRunners: BuilderRunners;
  readonly randomBytes: RandomBytes;
  readonly redactor: Pick<Redactor, 'add'>;
  readonly events: Pick<EventRecorder, 'event'>;
}

export type MachineDeps = MachineControllerOptions & MachineMemory;

/** The context of an action. */
export interface ActContext {
  readonly deps: MachineDeps;
  readonly patcher: MachinePatcher;
  readonly observation: Observation;
  readonly signal: AbortSignal;
  /** Records the start of a long action. */
  reportStarted(attempt?: Pick<AttemptResult, 'task' | 'message'>): Promise<void>;
}

export interface ActionOutput {
  readonly result: ActionResult;
  readonly next: ReconcileResult;
  /** The attempt, if it is not recorded yet. */
  readonly attempt?: AttemptResult;
  /** Our finalizer was removed: the machine cannot be written any more. */
  readonly finalizerRemoved?: true;
}

export const callOptions = ({ signal }: ActContext): CallOptions => ({ signal });

export const currentStatus = ({ patcher }: ActContext): MachineStatus => patcher.machine.status ?? {};

/** Done: requeue after that time. */
export const requeue = (afterMs: number): ActionOutput => ({ result: succeeded, next: requeueAfter(afterMs) });

/** The decision is based on outdated data. */
export const requeueStale: ActionOutput = { result: stale, next: requeueAfter(intervals.conflict) };

/** The location of the machine's Secret. */
export const secretLocation = ({ deps, patcher }: Pick<ActContext, 'deps' | 'patcher'>) => ({
  namespace: deps.options.secretsNamespace,
  machine: patcher.machine.metadata.name,
  uid: patcher.machine.metadata.uid,
});
