import type { Random } from '@tartan/kube/clock';

/** Core's names on the wire. */

export const coreGroup = 'cluster.x-k8s.io';
export const coreApiVersion = `${coreGroup}/v1beta2`;

export const labels = {
  clusterName: 'cluster.x-k8s.io/cluster-name',
  deploymentName: 'cluster.x-k8s.io/deployment-name',
  setName: 'cluster.x-k8s.io/set-name',
  controlPlane: 'cluster.x-k8s.io/control-plane',
  interruptible: 'cluster.x-k8s.io/interruptible',
  /** Distinguishes the MachineSets of one MachineDeployment. */
  templateHash: 'machine-template-hash',
  /** On Pods: `skip` or `wait-completed`. */
  drain: 'cluster.x-k8s.io/drain',
} as const;

export const annotations = {
  paused: 'cluster.x-k8s.io/paused',
  clonedFromName: 'cluster.x-k8s.io/cloned-from-name',
  clonedFromGroupKind: 'cluster.x-k8s.io/cloned-from-groupkind',
  deleteMachine: 'cluster.x-k8s.io/delete-machine',
  disableMachineCreate: 'cluster.x-k8s.io/disable-machine-create',
  excludeNodeDraining: 'machine.cluster.x-k8s.io/exclude-node-draining',
  revision: 'machinedeployment.clusters.x-k8s.io/revision',
  desiredReplicas: 'machinedeployment.clusters.x-k8s.io/desired-replicas',
  maxReplicas: 'machinedeployment.clusters.x-k8s.io/max-replicas',
  lastApplied: 'kubectl.kubernetes.io/last-applied-configuration',
  mirrorPod: 'kubernetes.io/config.mirror',
} as const;

/** Followed by `/` and a name: the owner of the hook removes the annotation to continue the deletion. */
export const hooks = {
  preDrain: 'pre-drain.delete.hook.machine.cluster.x-k8s.io',
  preTerminate: 'pre-terminate.delete.hook.machine.cluster.x-k8s.io',
} as const;

export const finalizers = {
  cluster: 'cluster.cluster.x-k8s.io',
  machine: 'machine.cluster.x-k8s.io',
  machineSet: 'cluster.x-k8s.io/machineset',
  machineDeployment: 'cluster.x-k8s.io/machinedeployment',
} as const;

/** On Nodes. */
export const nodeAnnotations = {
  clusterName: 'cluster.x-k8s.io/cluster-name',
  clusterNamespace: 'cluster.x-k8s.io/cluster-namespace',
  machine: 'cluster.x-k8s.io/machine',
  ownerKind: 'cluster.x-k8s.io/owner-kind',
  ownerName: 'cluster.x-k8s.io/owner-name',
  labelsFromMachine: 'cluster.x-k8s.io/labels-from-machine',
  annotationsFromMachine: 'cluster.x-k8s.io/annotations-from-machine',
} as const;

export const nodeTaints = {
  uninitialized: { key: 'node.cluster.x-k8s.io/uninitialized', effect: 'NoSchedule' },
  outdatedRevision: { key: 'node.cluster.x-k8s.io/outdated-revision', effect: 'PreferNoSchedule' },
} as const;

/** Labels of a Machine that its Node also gets: with one of these domains, or a subdomain of one. */
export const nodeLabelDomains = [
  'node-role.kubernetes.io',
  'node-restriction.kubernetes.io',
  'node.cluster.x-k8s.io',
] as const;

/** A Node that cannot be deleted for this long is left behind. Machines can override it. */
export const defaultNodeDeletionTimeoutSeconds = 10;

/** No vowels and no ambiguous characters, so that names spell no words. */
const letters = 'bcdfghjklmnpqrstvwxz2456789';

export const randomSuffix = (random: Random): string =>
  Array.from({ length: 5 }, () => letters[Math.floor(random() * letters.length)] ?? 'b').join('');

/** Names that are also labels have at most 63 characters. */
export const nameWithSuffix = (base: string, suffix: string): string => `${`${base}-`.slice(0, 58)}${suffix}`;
