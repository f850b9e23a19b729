import { type Condition, defineResource, type KubeObject } from '@tartan/kube';
import { coreGroup } from './names.ts';

/** Core's kinds in v1beta2, as far as they are used here. */

export interface LabelSelector {
  matchLabels?: Record<string, string>;
  matchExpressions?: { key: string; operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist'; values?: string[] }[];
}

/** In the same namespace, in the version that the labels of its definition name. */
export interface Reference {
  apiGroup: string;
  kind: string;
  name: string;
}

interface Endpoint {
  host?: string;
  port?: number;
}

export interface Cluster extends KubeObject {
  spec?: {
    paused?: boolean;
    controlPlaneEndpoint?: Endpoint;
    infrastructureRef?: Reference;
    controlPlaneRef?: Reference;
  };
  status?: ClusterStatus;
}

export interface ClusterStatus {
  conditions?: readonly Condition[];
  initialization?: { infrastructureProvisioned?: boolean; controlPlaneInitialized?: boolean };
  workers?: Counts & { desiredReplicas: number };
  phase?: string;
  observedGeneration?: number;
  /** The v1beta1 form of `initialization`: no webhook converts between the two here. */
  infrastructureReady?: boolean;
  controlPlaneReady?: boolean;
}

/** Replicas, and how many of them are ready, available and up to date. */
export interface Counts {
  replicas: number;
  readyReplicas: number;
  availableReplicas: number;
  upToDateReplicas: number;
}

interface DeletionSpec {
  nodeDrainTimeoutSeconds?: number;
  nodeVolumeDetachTimeoutSeconds?: number;
  nodeDeletionTimeoutSeconds?: number;
}

interface ReadinessGate {
  conditionType: string;
  polarity?: 'Positive' | 'Negative';
}

interface MachineSpec {
  clusterName?: string;
  bootstrap?: { dataSecretName?: string; configRef?: Reference };
  infrastructureRef?: Reference;
  version?: string;
  providerID?: string;
  failureDomain?: string;
  minReadySeconds?: number;
  readinessGates?: ReadinessGate[];
  deletion?: DeletionSpec;
}

export interface Machine extends KubeObject {
  spec?: MachineSpec;
  status?: MachineStatus;
}

export interface MachineStatus {
  conditions?: readonly Condition[];
  initialization?: { infrastructureProvisioned?: boolean };
  nodeRef?: { name: string };
  nodeInfo?: Record<string, unknown>;
  addresses?: unknown[];
  failureDomain?: string;
  phase?: string;
  lastUpdated?: string;
  deletion?: {
    nodeDrainStartTime?: string;
    waitForPreDrainHookStartTime?: string;
    waitForPreTerminateHookStartTime?: string;
  };
  observedGeneration?: number;
  /** For readers of v1beta1. */
  infrastructureReady?: boolean;
}

export interface MachineTemplate {
  metadata?: { labels?: Record<string, string>; annotations?: Record<string, string> };
  spec?: MachineSpec;
}

type DeletionOrder = 'Random' | 'Newest' | 'Oldest';

export interface MachineSetSpec {
  clusterName?: string;
  replicas?: number;
  selector?: LabelSelector;
  template?: MachineTemplate;
  deletion?: { order?: DeletionOrder };
}

export interface MachineSet extends KubeObject {
  spec?: MachineSetSpec;
  status?: MachineSetStatus;
}

export interface MachineSetStatus extends Partial<Counts> {
  conditions?: readonly Condition[];
  selector?: string;
  observedGeneration?: number;
}

export interface RollingUpdate {
  maxSurge?: number | string;
  maxUnavailable?: number | string;
}

export interface MachineDeployment extends KubeObject {
  spec?: {
    clusterName?: string;
    replicas?: number;
    paused?: boolean;
    selector?: LabelSelector;
    rollout?: { after?: string; strategy?: { type?: 'RollingUpdate' | 'OnDelete'; rollingUpdate?: RollingUpdate } };
    template?: MachineTemplate;
    deletion?: { order?: DeletionOrder };
  };
  status?: MachineSetStatus & { phase?: string };
}

export type DrainBehavior = 'Drain' | 'Skip' | 'WaitCompleted';

export interface MachineDrainRule extends KubeObject {
  spec?: {
    drain?: { behavior?: DrainBehavior; order?: number };
    machines?: { selector?: LabelSelector; clusterSelector?: LabelSelector }[];
    pods?: { selector?: LabelSelector; namespaceSelector?: LabelSelector }[];
  };
}

const core = { group: coreGroup, version: 'v1beta2', namespaced: true };

export const clusters = defineResource<Cluster>({ ...core, kind: 'Cluster', plural: 'clusters' });
export const machines = defineResource<Machine>({ ...core, kind: 'Machine', plural: 'machines' });
export const machineSets = defineResource<MachineSet>({ ...core, kind: 'MachineSet', plural: 'machinesets' });
export const machineDeployments = defineResource<MachineDeployment>({
  ...core,
  kind: 'MachineDeployment',
  plural: 'machinedeployments',
});
export const machineDrainRules = defineResource<MachineDrainRule>({
  ...core,
  kind: 'MachineDrainRule',
  plural: 'machinedrainrules',
});
