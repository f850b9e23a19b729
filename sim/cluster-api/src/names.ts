import type { Random } from '@tartan/kube/clock';

/** What core calls things on the wire. */

export const coreGroup = 'cluster.x-k8s.io';
export const coreApiVersion = `${coreGroup}/v1beta2`;

export const labels = {
  clusterName: 'cluster.x-k8s.io/cluster-name',
  deploymentName: 'cluster.x-k8s.io/deployment-name',
  setName: 'cluster.x-k8s.io/set-name',
  controlPlane: 'cluster.x-k8s.io/control-plane',
  interruptible: 'cluster.x-k8s.io/interruptible',
  /** Tells the MachineSets of one MachineDeployment apart. */
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

/** Followed by `/` and a name of its own: whoever put it there takes it away to let the deletion go on. */
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

/** Labels of a Machine that its Node gets too: below one of these, or below a subdomain of one. */
export const nodeLabelDomains = [
  'node-role.kubernetes.io',
  'node-restriction.kubernetes.io',
  'node.cluster.x-k8s.io',
] as const;

/** A Node that cannot be deleted for so long is left behind, unless a Machine says otherwise. */
export const defaultNodeDeletionTimeoutSeconds = 10;

/** No vowels, and nothing that looks like something else: names spell no words. */
const letters = 'bcdfghjklmnpqrstvwxz2456789';

export const randomSuffix = (random: Random): string =>
  Array.from({ length: 5 }, () => letters[Math.floor(random() * letters.length)] ?? 'b').join('');

/** Names that are labels, too, are at most 63 characters long. */
export const nameWithSuffix = (base: string, suffix: string): string => `${`${base}-`.slice(0, 58)}${suffix}`;
