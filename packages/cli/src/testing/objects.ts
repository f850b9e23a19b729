import {
  annotations,
  finalizers,
  labels,
  labelValues,
  macFleet,
  type MacFleet,
  machine,
  type MachineSpec,
  type MachineStatus,
  macHost,
  type MacHost,
  type MacHostStatus,
  runnerBusyCondition,
  runnerPool,
  type RunnerPool,
} from '@tartan/api';
import type { Condition } from '@tartan/kube';
import type { ClusterState, Fleet, Host, Machine, Node, Pod } from '../cluster/state.ts';
import type { ExplainInput } from '../explain/explanation.ts';
import type { Pool } from '../runners/read-runners.ts';

/** Objects as the server returns them, for tests of pure functions. */

const now = Date.parse('2026-05-01T12:00:00Z');
export const minutesAgo = (minutes: number): string =>
  `${new Date(now - minutes * 60_000).toISOString().slice(0, 19)}Z`;

const metadata = (name: string, namespace?: string) => ({
  name,
  uid: `uid-of-${name}`,
  resourceVersion: '1',
  creationTimestamp: minutesAgo(60),
  generation: 1,
  ...(namespace !== undefined && { namespace }),
});

export const aCondition = (type: string, status: Condition['status'], reason: string, message = ''): Condition => ({
  type,
  status,
  reason,
  message,
  lastTransitionTime: minutesAgo(5),
});

export const aMachine = (
  name: string,
  status: MachineStatus | null = {},
  {
    spec = {},
    more = {},
    namespace = 'default',
  }: { spec?: Partial<MachineSpec>; more?: object; namespace?: string } = {},
): Machine => ({
  ...machine.make({ metadata: {}, spec: { fleetName: 'macos', ...spec } }),
  metadata: { ...metadata(name, namespace), ...inCluster(name), finalizers: [finalizers.machine], ...more },
  ...(status && { status }),
});

const core = 'cluster.x-k8s.io/v1beta2';
/** As Cluster API writes it on the machines of a Cluster. */
const inCluster = (name: string) => ({
  labels: { [labels.clusterName]: 'macs' },
  ownerReferences: [{ apiVersion: core, kind: 'Machine', name, uid: `uid-of-machine-${name}` }],
});

/** A Ready machine on that Mac. */
export const aReadyMachine = (name: string, host: string, status: MachineStatus = {}): Machine =>
  aMachine(
    name,
    {
      phase: 'Ready',
      ready: true,
      serverID: host,
      initialization: { provisioned: true },
      hostConfigHash: 'h1',
      desiredHostConfigHash: 'h1',
      conditions: [aCondition('HostUpToDate', 'True', 'UpToDate'), aCondition('Ready', 'True', 'Ready')],
      ...status,
    },
    { spec: { providerID: `scw-applesilicon://fr-par-1/${host}` } },
  );

export const aHost = (name: string, status: MacHostStatus | null = {}, spec: Partial<MacHost['spec']> = {}): Host => ({
  ...macHost.make({ metadata: {}, spec: { zone: 'fr-par-1', ...spec } }),
  metadata: metadata(name),
  ...(status && {
    status: {
      state: 'pool',
      since: minutesAgo(30),
      name: `tuist-pool-${name}`,
      type: 'M2-L',
      osFamily: 'Tahoe',
      osImage: 'macos-tahoe-26.0',
      serverStatus: 'ready',
      ...status,
    },
  }),
});

export const heldBy = (name: string): Pick<MacHost['spec'], 'consumerRef'> => ({
  consumerRef: {
    apiVersion: 'infrastructure.cluster.x-k8s.io/v1alpha1',
    kind: 'ScalewayAppleSiliconMachine',
    namespace: 'default',
    name,
    uid: `uid-of-${name}`,
  },
});

export const aNode = (
  name: string,
  {
    ready = true,
    host,
    cordoned = false,
    summary = 'h1',
  }: { ready?: boolean; host?: string; cordoned?: boolean; summary?: string } = {},
): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: {
    ...metadata(name),
    labels: { [labels.runtime]: labelValues.runtime },
    annotations: { [annotations.agentVersion]: 'v1.2.3', [annotations.hostConfigHash]: summary },
  },
  spec: {
    ...(host !== undefined && { providerID: `scw-applesilicon://fr-par-1/${host}` }),
    ...(cordoned && { unschedulable: true }),
  },
  status: { allocatable: { pods: '2' }, conditions: [{ type: 'Ready', status: ready ? 'True' : 'Unknown' }] },
});

export const aPod = (
  name: string,
  nodeName: string | undefined,
  more: { metadata?: object; status?: Pod['status']; spec?: object } = {},
): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { ...metadata(name, 'default'), ...more.metadata },
  spec: { containers: [{ name: 'vm', image: 'macos' }], ...(nodeName !== undefined && { nodeName }), ...more.spec },
  status: { phase: 'Running', ...more.status },
});

export const aFleet = (
  name: string,
  status: Partial<MacFleet['status']> = {},
  spec: Partial<MacFleet['spec']> = {},
): Fleet => ({
  ...macFleet.make({ metadata: {}, spec }),
  metadata: metadata(name, 'default'),
  status: { observedGeneration: 1, ...status },
});

export const aRunnerPool = (
  name: string,
  status: Partial<RunnerPool['status']> = {},
  { spec = {}, more = {} }: { spec?: Partial<RunnerPool['spec']>; more?: object } = {},
): Pool => ({
  ...runnerPool.make({
    metadata: {},
    spec: {
      image: 'macos:1',
      fleetSelector: 'runners',
      replicas: 3,
      github: { organization: 'acme', appSecretName: 'github-app' },
      ...spec,
    },
  }),
  metadata: { ...metadata(name, 'default'), ...more },
  status: { observedGeneration: 1, ...status },
});

/** A Pod of a pool, with this report of its guest. */
export const aRunnerPod = (
  name: string,
  nodeName: string | undefined,
  { job, annotations: marks = {} }: { job?: Condition['status']; annotations?: Record<string, string> } = {},
): Pod =>
  aPod(name, nodeName, {
    metadata: { labels: { [labels.runner]: 'true', [labels.runnerPool]: 'macos' }, annotations: marks },
    spec: { containers: [{ name: 'runner', image: 'macos:1' }] },
    status: {
      phase: nodeName === undefined ? 'Pending' : 'Running',
      conditions: job === undefined ? [] : [{ type: runnerBusyCondition, status: job, reason: 'JobStarted' }],
    },
  });

export const aClusterState = (parts: Partial<ClusterState> = {}): ClusterState => ({
  now,
  machines: [],
  hosts: [],
  fleets: [],
  nodes: [],
  pods: [],
  unreadable: new Set(),
  notes: [],
  ...parts,
});

export const anExplainInput = (parts: Partial<ExplainInput> = {}): ExplainInput => ({
  ...aClusterState(),
  clusters: new Map([
    [
      'default/macs',
      {
        apiVersion: core,
        kind: 'Cluster',
        metadata: metadata('macs', 'default'),
        status: { initialization: { infrastructureProvisioned: true } },
      },
    ],
  ]),
  managerFlags: { defaultPoolPrefix: undefined, claimNamePrefix: undefined },
  ...parts,
});
