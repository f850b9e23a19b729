import { labels, macTaint } from '@tartan/api';
import { type Condition, type daemonSets, defineResource, type KubeObject, type Live, pods } from '@tartan/kube';
import type { Harness } from './harness.ts';
import { succeeded } from './run.ts';
import { namespace } from './values.ts';

interface MachineDeployment extends KubeObject {
  status?: {
    observedGeneration?: number;
    replicas?: number;
    availableReplicas?: number;
    upToDateReplicas?: number;
    conditions?: Condition[];
  };
}

/** With core's whole status of a rollout. */
export const machineDeployments = defineResource<MachineDeployment>({
  group: 'cluster.x-k8s.io',
  version: 'v1beta2',
  kind: 'MachineDeployment',
  plural: 'machinedeployments',
  namespaced: true,
});

/** Waits until a fleet has so many Machines, all available and from its current template. */
export const untilAvailable = (harness: Harness, fleet: string, replicas: number): Promise<Live<MachineDeployment>> =>
  harness.waitFor(
    machineDeployments,
    fleet,
    `has ${replicas} machines, available and up to date`,
    ({ metadata, status }) =>
      status?.observedGeneration === metadata.generation &&
      status?.replicas === replicas &&
      status.availableReplicas === replicas &&
      status.upToDateReplicas === replicas,
  );

type DaemonSet = NonNullable<(typeof daemonSets)['ofType']>;
type Pod = Live<NonNullable<(typeof pods)['ofType']>>;

const onAMac = (fleet: string) => ({
  nodeSelector: { [labels.fleet]: fleet },
  tolerations: [{ key: macTaint.key, operator: 'Exists' as const }],
});
const vm = { name: 'vm', image: 'ghcr.io/example/macos-tahoe-xcode:26.1' };

/** A virtual machine on a Mac of the fleet. It runs when this resolves, and until it is ended. */
export const startPod = async (
  harness: Harness,
  name: string,
  fleet: string,
  more: Record<string, string> = {},
): Promise<Pod> => {
  await harness.client.create(pods, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace, name, labels: more },
    spec: { ...onAMac(fleet), restartPolicy: 'Never', containers: [vm] },
  });
  return harness.waitFor(pods, name, 'runs', ({ status }) => status?.phase === 'Running');
};

/** A CI job. */
export const startJob = (harness: Harness, name: string, fleet: string): Promise<Pod> =>
  startPod(harness, name, fleet, { 'tuist.dev/runner': 'true' });

/** Ends the job's work: it exits by itself. */
export const finishJob = async (harness: Harness, name: string): Promise<void> => {
  succeeded(harness, await harness.kubectl('exec', name, '--', 'touch', 'done'));
};

export const daemonSet = (name: string, fleet: string): DaemonSet => ({
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { namespace, name },
  spec: {
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { ...onAMac(fleet), containers: [vm] } },
  },
});
