import {
  type Client,
  getCondition,
  isKubeError,
  type KubeObject,
  type Live,
  namespaces,
  nodes,
  type Resource,
  secrets,
  type Subresources,
} from '@tartan/kube';
import type { ExternalObject } from '../external/contract.ts';
import {
  type Cluster,
  clusters,
  type Machine,
  type MachineDeployment,
  machineDeployments,
  machines,
  type MachineSet,
  machineSets,
} from '../kinds.ts';
import { coreApiVersion, labels } from '../names.ts';
import { ignoreNotFound } from '../writes.ts';
import {
  createFakeProvider,
  fakeClusters,
  fakeControlPlanes,
  fakeMachines,
  type FakeProvider,
  fakeTemplates,
  refTo,
} from './fake-provider.ts';

/** Where scenarios are played: an API server with Cluster API core, or a stand-in for it, at work. */
export interface Host {
  /** May do everything. */
  readonly client: Client;
  readonly subresources: Pick<Subresources, 'getScale' | 'updateScale'>;
  /** By which core connects to the cluster that Machines join: this one. */
  readonly kubeconfig: string;
  now(): number;
  /** Lets a moment pass, in which others may work. */
  tick(): Promise<void>;
  /** After so long without success, a scenario gives up. */
  readonly timeoutMs: number;
  stop(): Promise<void>;
}

/** Something that is true of Cluster API core, whoever plays it. */
export interface Scenario {
  /** A sentence. */
  readonly name: string;
  run(harness: Harness): Promise<void>;
}

type Rollout = NonNullable<NonNullable<MachineDeployment['spec']>['rollout']>;

interface DeploymentOptions {
  readonly replicas: number;
  readonly rollout?: Rollout;
  readonly template?: string;
}

/** What one scenario works with: a namespace, a provider in it, and words for what is there. */
export interface Harness {
  readonly host: Host;
  readonly namespace: string;
  readonly provider: FakeProvider;
  addCluster(spec?: Cluster['spec']): Promise<void>;
  addKubeconfig(withLabel?: boolean): Promise<void>;
  addTemplate(name: string): Promise<void>;
  addDeployment(wish: DeploymentOptions): Promise<void>;
  /** A cluster with that many Machines, all of them available. */
  start(wish: DeploymentOptions): Promise<void>;
  cluster(): Promise<Live<Cluster>>;
  deployment(): Promise<Live<MachineDeployment>>;
  sets(): Promise<Live<MachineSet>[]>;
  /** By name. */
  machines(): Promise<Live<Machine>[]>;
  machine(name: string): Promise<Live<Machine> | undefined>;
  hosts(): Promise<Live<ExternalObject>[]>;
  node(name: string): ReturnType<typeof nodeOf>;
  patch<T extends KubeObject>(resource: Resource<T>, name: string, body: object): Promise<void>;
  remove<T extends KubeObject>(resource: Resource<T>, name: string): Promise<void>;
  /** Lets the provider and core work until there is something, and answers with that. */
  waitFor<T>(what: string, look: () => Promise<T | undefined | false>): Promise<T>;
  waitForAvailable(replicas: number): Promise<void>;
  /** Lets them work for so many moments. */
  ticks(count: number): Promise<void>;
}

const clusterName = 'played';
export const deploymentName = 'workers';

const nodeOf = ({ client }: Host, name: string) => ignoreNotFound(client.get(nodes, { name }));

export const conditionOf = (
  object: { status?: { conditions?: Parameters<typeof getCondition>[0] } } | undefined,
  type: string,
): string => {
  const found = getCondition(object?.status?.conditions, type);
  return found ? `${found.status} ${found.reason}` : 'none';
};

export const messageOf = (...[object, type]: Parameters<typeof conditionOf>): string =>
  getCondition(object?.status?.conditions, type)?.message ?? '';

export const createHarness = async (host: Host, namespace: string): Promise<Harness> => {
  const { client } = host;
  const provider = createFakeProvider(host, namespace);
  const here = (name: string): { namespace: string; name: string } => ({ namespace, name });
  await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });

  const step = async (): Promise<void> => {
    try {
      await provider.step();
    } catch (error) {
      // Core wrote at the same time, or has taken it away: the next step sees that.
      if (!isKubeError(error, 'conflict', 'notFound', 'alreadyExists')) throw error;
    }
    await host.tick();
  };
  const sorted = <T extends KubeObject>(items: Live<T>[]): Live<T>[] =>
    items.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  const listed = async <T extends KubeObject>(resource: Resource<T>): Promise<Live<T>[]> =>
    sorted((await client.list(resource, { namespace })).items);

  const harness: Harness = {
    host,
    namespace,
    provider,
    addCluster: async (spec = {}) => {
      const played = { apiVersion: 'infrastructure.cluster.x-k8s.io/v1', kind: 'PlayedCluster' };
      await client.create(fakeClusters, { ...played, metadata: here(clusterName) });
      await client.create(fakeControlPlanes, {
        apiVersion: 'controlplane.cluster.x-k8s.io/v1',
        kind: 'PlayedControlPlane',
        metadata: here(clusterName),
      });
      await client.create(clusters, {
        apiVersion: coreApiVersion,
        kind: 'Cluster',
        metadata: here(clusterName),
        spec: {
          controlPlaneEndpoint: { host: '192.0.2.1', port: 6443 },
          infrastructureRef: refTo('PlayedCluster', clusterName),
          controlPlaneRef: refTo('PlayedControlPlane', clusterName),
          ...spec,
        },
      });
    },
    addKubeconfig: async (withLabel = true) => {
      await client.create(secrets, {
        apiVersion: 'v1',
        kind: 'Secret',
        type: 'cluster.x-k8s.io/secret',
        metadata: {
          ...here(`${clusterName}-kubeconfig`),
          ...(withLabel && { labels: { [labels.clusterName]: clusterName } }),
        },
        data: { value: Buffer.from(host.kubeconfig).toString('base64') },
      });
    },
    addTemplate: async (name) => {
      await client.create(fakeTemplates, {
        apiVersion: 'infrastructure.cluster.x-k8s.io/v1',
        kind: 'PlayedMachineTemplate',
        metadata: here(name),
        spec: { template: { metadata: { labels: { from: 'template' } }, spec: { size: name } } },
      });
    },
    addDeployment: async ({ replicas, rollout, template = 'first' }) => {
      const marks = { [labels.clusterName]: clusterName, [labels.deploymentName]: deploymentName };
      const rollingUpdate = { maxSurge: 1, maxUnavailable: 0 };
      await client.create(machineDeployments, {
        apiVersion: coreApiVersion,
        kind: 'MachineDeployment',
        // By this label core finds who is concerned when a Cluster is paused or not; its webhook would put it there.
        metadata: { ...here(deploymentName), labels: { [labels.clusterName]: clusterName } },
        spec: {
          clusterName,
          replicas,
          selector: { matchLabels: marks },
          rollout: rollout ?? { strategy: { type: 'RollingUpdate', rollingUpdate } },
          template: {
            metadata: { labels: { ...marks, 'node.cluster.x-k8s.io/pool': 'played' } },
            spec: {
              clusterName,
              bootstrap: { dataSecretName: 'nothing' },
              infrastructureRef: refTo('PlayedMachineTemplate', template),
            },
          },
        },
      });
    },
    start: async (wish) => {
      await harness.addCluster();
      await harness.addKubeconfig();
      await harness.addTemplate(wish.template ?? 'first');
      await harness.addDeployment(wish);
      await harness.waitForAvailable(wish.replicas);
    },
    cluster: () => client.get(clusters, here(clusterName)),
    deployment: () => client.get(machineDeployments, here(deploymentName)),
    sets: () => listed(machineSets),
    machines: () => listed(machines),
    machine: (name) => ignoreNotFound(client.get(machines, here(name))),
    hosts: () => listed(fakeMachines),
    node: (name) => nodeOf(host, name),
    patch: async (resource, name, body) => {
      await client.patch(resource, here(name), { type: 'merge', body });
    },
    remove: async (resource, name) => {
      await client.delete(resource, here(name));
    },
    waitFor: async (what, look) => {
      const end = host.now() + host.timeoutMs;
      for (;;) {
        const found = await look();
        if (found !== undefined && found !== false) return found;
        if (host.now() > end) throw new Error(`waited in vain until ${what}: ${await dumpState(harness)}`);
        await step();
      }
    },
    waitForAvailable: async (replicas) => {
      await harness.waitFor(`${replicas} Machines are available, and no others there`, async () => {
        const { metadata, status } = await harness.deployment();
        return (
          status?.observedGeneration === metadata.generation &&
          status?.replicas === replicas &&
          status.availableReplicas === replicas &&
          status.upToDateReplicas === replicas &&
          (await harness.machines()).length === replicas
        );
      });
    },
    ticks: async (count) => {
      for (let passed = 0; passed < count; passed += 1) await step();
    },
  };
  return harness;
};

/** What is there, for whoever reads that something did not come true. */
const dumpState = async (harness: Harness): Promise<string> => {
  const seen = {
    cluster: (await harness.cluster().catch(() => undefined))?.status,
    deployment: (await harness.deployment().catch(() => undefined))?.status,
    machines: (await harness.machines()).map(({ metadata, status }) => [metadata.name, status]),
    hosts: (await harness.hosts()).map(({ metadata, status }) => [metadata.name, metadata.deletionTimestamp, status]),
  };
  return JSON.stringify(seen, undefined, 1);
};
