import { apiVersionOf, type Resource, type WithStatus } from '@tartan/kube';
import type { z } from 'zod';
import { cluster } from '../../kinds/cluster.ts';
import { externalControlPlane } from '../../kinds/external-control-plane.ts';
import { macFleet } from '../../kinds/mac-fleet.ts';
import { macHost } from '../../kinds/mac-host.ts';
import { machine, machineTemplate } from '../../kinds/machine.ts';
import { runnerPool } from '../../kinds/runner-pool.ts';
import type { Kind } from '../../schema/kind.ts';

/** Example objects of a fleet. Together they use every field of the schemas. */
export interface Example {
  kind: string;
  namespaced: boolean;
  resource: Resource<WithStatus & { spec: object }>;
  /** Built without `make` of the kind, so that the test notices a field that is missing in the schema. */
  make(metadata: { name: string; namespace?: string }): WithStatus & { spec: object };
  spec: object;
  status: object | undefined;
}

const example = <
  Spec extends z.ZodType<object, object | undefined>,
  Status extends z.ZodType<object, object | undefined>,
>(
  { names, resource }: Kind<Spec, Status>,
  { spec, status }: { spec: NonNullable<z.input<Spec>>; status?: NonNullable<z.input<Status>> },
): Example => ({
  kind: names.kind,
  namespaced: names.namespaced,
  resource,
  make: (metadata) => ({ apiVersion: apiVersionOf(names), kind: names.kind, metadata, spec }),
  spec,
  status,
});

const noon = '2026-01-02T12:00:00Z';
const serverID = '2f4b6c1e-0f7a-4c55-9d1c-6d5a0e0c7c11';
const providerID = `scw-applesilicon://fr-par-1/${serverID}`;
const conditionOf = (type: string, reason: string) => ({
  type,
  status: 'True' as const,
  reason,
  message: 'As it should be.',
  lastTransitionTime: noon,
  observedGeneration: 1,
});

const cloned = {
  type: 'M4-XL',
  zone: 'fr-par-3',
  os: 'Golden Gate',
  fleetName: 'builders-fleet',
  kubeletVersion: 'v1.36.3',
  hostCPU: 8,
  hostMemoryMB: 14_336,
  maxPods: 2,
  adoptPoolPrefix: 'tuist-pool-',
  ghActionsRunner: { ghOrg: 'tuist', ghRunnerLabels: 'self-hosted,macos', ghAppSecretName: 'github-app' },
};

export const examples: readonly Example[] = [
  example(machine, {
    spec: { providerID, ...cloned },
    status: {
      ready: true,
      initialization: { provisioned: true },
      phase: 'Ready',
      serverID,
      serverVersion: '4711',
      waitingForHostSince: noon,
      addresses: [{ type: 'ExternalIP', address: '192.0.2.7' }],
      conditions: [conditionOf('Ready', 'Ready'), conditionOf('Provisioned', 'HostClaimed')],
      observedGeneration: 1,
      lastAttempt: { task: 'Update', outcome: 'Rejected', message: 'the agent does not start', at: noon, count: 2 },
      bootstrapAttempts: 0,
      bootstrapRebootIssued: false,
      lastBootstrapFailureTime: noon,
      hostKeyEpoch: 3,
      hostKey: 'SHA256:n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg',
      leftOut: { desired: '5f1d', actual: '5f1c', message: 'node_exporter did not start', at: noon },
      joinVersion: 'ab12cd',
      joinTokenID: 'abc123',
      joinTokenExpires: '2026-11-16T10:15:00Z',
      certificateExpires: '2026-11-23T10:00:00Z',
      hostConfigHash: '5f1d',
      desiredHostConfigHash: '5f1d',
      plannedBy: '1f0c9a2e',
      failedHostConfigHash: '77aa',
      tartKubeletUpdateAttempts: 2,
      lastUpdateFailureTime: noon,
    },
  }),
  example(machineTemplate, {
    spec: { template: { metadata: { labels: { a: 'b' }, annotations: { 'c/d': '' } }, spec: cloned } },
  }),
  example(macHost, {
    spec: {
      zone: 'fr-par-1',
      poolPrefix: 'tuist-pool-',
      release: {
        poolPrefix: 'tuist-pool-',
        family: 'Tahoe',
        reason: 'MachineDeleted',
        message: 'machine fleet/mac-1 was deleted',
        hostKey: 'SHA256:n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg',
        serverName: 'mac-1',
        requestedAt: noon,
        machine: { namespace: 'fleet', name: 'mac-1', uid: '0f3e', cluster: 'macs' },
      },
      reboot: { requestedAt: noon },
    },
    status: {
      state: 'releasing',
      since: noon,
      name: 'tuist-releasing-1',
      type: 'M2-L',
      osFamily: 'Tahoe',
      osImage: 'macos-tahoe-26.3',
      serverStatus: 'reinstalling',
      gone: false,
      ip: '192.0.2.7',
      heldBy: 'default/mac-1',
      claim: { uid: '0f3e', namedAt: noon, settledAt: noon },
      installs: 4,
      osRequested: { family: 'Tahoe', at: noon },
      wipe: {
        attempts: 1,
        requestedAt: noon,
        refusedAt: noon,
        refusal: 'Scaleway answered 423',
        image: { id: '05000000-0000-4000-8000-000000000001', name: 'macos-tahoe-26.3' },
        stuckAt: noon,
        reinstallingAt: noon,
        readyAt: noon,
      },
      retiredHostKeys: ['SHA256:one', 'SHA256:two'],
      quarantine: { count: 8, reason: 'no session at the console', cause: 'BootstrapsFailed', until: noon },
      rebootIssuedAt: noon,
      conditions: [conditionOf('Listed', 'Listed')],
      observedGeneration: 2,
    },
  }),
  example(macHost, {
    spec: {
      zone: 'fr-par-1',
      consumerRef: {
        apiVersion: 'infrastructure.cluster.x-k8s.io/v1alpha1',
        kind: 'ScalewayAppleSiliconMachine',
        namespace: 'default',
        name: 'mac-1',
        uid: '5c0f2f0e-6a0b-4f0e-8a55-3f1f0d6b2a10',
      },
    },
    status: { state: 'held', since: noon },
  }),
  example(macFleet, {
    spec: {
      maxUnavailable: 3,
      paused: true,
      gateDeadlineSeconds: 60,
      waitForMacs: false,
      releaseID: '1f0c9a2e',
      machinesRevision: '77ab01cd',
      replicas: 8,
      pausedByRelease: true,
    },
    status: {
      observedGeneration: 1,
      desired: 9,
      existing: 9,
      ready: 8,
      updated: 0,
      revision: 'r2',
      stalledRevision: 'r1',
      stop: { reason: 'PushRejected', machine: 'mac-1', message: 'No space left.', at: noon },
      provenRevision: 'r1',
      rollStartedAt: noon,
      passedOver: [{ machine: 'mac-3', uid: 'u3', at: noon }],
      turns: [
        { machine: 'mac-1', uid: 'u1', hash: '5f1d', revision: 'r2', canary: true, grantedAt: noon },
        {
          machine: 'mac-2',
          uid: 'u2',
          hash: '5f1e',
          canary: false,
          grantedAt: noon,
          waitsForIdle: true,
          rollBack: true,
        },
      ],
      turnOf: 'mac-1, mac-2',
      conditions: [conditionOf('Rolling', 'Wave')],
    },
  }),
  example(cluster, {
    spec: { controlPlaneEndpoint: { host: 'api.example.com', port: 6443 } },
    status: {
      ready: true,
      initialization: { provisioned: true },
      conditions: [conditionOf('Ready', 'Provisioned')],
      observedGeneration: 1,
    },
  }),
  example(externalControlPlane, {
    spec: { serviceAccountName: 'capi-remote', server: 'https://10.0.0.1:443', kubeconfig: 'Provided' },
    status: {
      initialization: { controlPlaneInitialized: true },
      initialized: true,
      ready: true,
      externalManagedControlPlane: true,
      kubeconfigExpires: noon,
      conditions: [conditionOf('Available', 'Available')],
      observedGeneration: 1,
    },
  }),
  example(runnerPool, {
    spec: {
      replicas: 0,
      image: 'ghcr.io/tuist/macos:26.3',
      fleetSelector: 'runners-fleet',
      runnerLabels: [],
      podCPUMilli: 6000,
      podMemoryMB: 14_336,
      idleTimeoutSeconds: 0,
      rollout: { maxConcurrentPercent: 100 },
      github: { organization: 'tuist', runnerGroup: 'macs', appSecretName: 'github-app' },
    },
    status: {
      observedGeneration: 1,
      replicas: 0,
      selector: 'tuist.dev/runner-pool=warm',
      warm: 0,
      busy: 0,
      retiring: 0,
      stale: 0,
      stuck: 0,
      oldestStuckSince: noon,
      reaped: 504,
      finished: [
        {
          name: 'warm-runner-0123abcd',
          uid: '8e1f0d5c-0000-4000-8000-000000000001',
          node: 'mac-1',
          hadJob: true,
          exitCode: 0,
          reason: 'Completed',
          startedAt: noon,
          finishedAt: noon,
        },
      ],
      queue: { jobs: 1, oldestSince: noon, observedAt: noon },
      runner: { version: '2.334.0', newest: '2.335.0', newestSince: noon, outdatedSince: noon },
      observedImage: 'ghcr.io/tuist/macos:26.3',
      conditions: [conditionOf('Ready', 'Converged')],
    },
  }),
  example(runnerPool, {
    spec: {
      replicas: 2,
      image: 'ghcr.io/tuist/macos:26.3',
      fleetSelector: 'runners-fleet',
      runnerLabels: ['macOS'],
      podCPUMilli: 6000,
      podMemoryMB: 14_336,
      idleTimeoutSeconds: 300,
      rollout: { maxConcurrentPercent: 5 },
      github: { repository: 'tuist/tuist', appSecretName: 'github-app' },
    },
    status: { observedGeneration: -1 },
  }),
];
