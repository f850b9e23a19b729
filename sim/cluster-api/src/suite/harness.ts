import {
  type Client,
  getCondition,
  isKubeError,
  type KubeObject,
  type Live,
  namespaces,
  nodes,
  pods,
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

/** Where scenarios run: an API server with Cluster API core or its simulator. */
export interface Host {
  /** Of an administrator. */
  readonly client: Client;
  readonly subresources: Pick<Subresources, 'getScale' | 'updateScale'>;
  /** Core's kubeconfig for the cluster that Machines join: this cluster. */
  readonly kubeconfig: string;
  now(): number;
  /** Lets time pass, in which controllers work. */
  tick(): Promise<void>;
  /** After this time a scenario fails. */
  readonly timeoutMs: number;
  stop(): Promise<void>;
}

/** A behaviour of Cluster API core and of its simulator. */
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

/** The namespace and the provider of one scenario, with helpers. */
export interface Harness {
  readonly host: Host;
  readonly namespace: string;
  readonly provider: FakeProvider;
  addCluster(spec?: Cluster['spec']): Promise<void>;
  addKubeconfig(withLabel?: boolean): Promise<void>;
  addTemplate(name: string): Promise<void>;
  addDeployment(wish: DeploymentOptions): Promise<void>;
  /** A cluster with that many available Machines. */
  start(wish: DeploymentOptions): Promise<void>;
  /** A cluster with one Machine. Returns the name of the Machine, which is also that of its Node. */
  startOne(): Promise<string>;
  addPod(name: string, node: string, podLabels?: Record<string, string>): Promise<void>;
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
  /** Lets the provider and core work until `read` returns something, and returns that. */
  waitFor<T>(what: string, read: () => Promise<T | undefined | false>): Promise<T>;
  /** Waits until a condition is `STATUS REASON`, and returns the object. */
  waitForCondition<T extends Conditioned>(
    read: () => Promise<T | undefined>,
    type: string,
    expected: string,
  ): Promise<T>;
  waitUntilGone(machine: string): Promise<true>;
  waitForAvailable(replicas: number): Promise<void>;
  /** Lets the provider and core work for so many steps. */
  ticks(count: number): Promise<void>;
}

const clusterName = 'played';
export const deploymentName = 'workers';

const nodeOf = ({ client }: Host, name: string) => ignoreNotFound(client.get(nodes, { name }));

interface Conditioned {
  readonly status?: { readonly conditions?: Parameters<typeof getCondition>[0] };
}

/** `STATUS REASON`, or `none`. */
export const conditionOf = (object: Conditioned | undefined, type: string): string => {
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
      // Core wrote or deleted it at the same time: the next step sees that.
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
      const played = { apiVersion: 'infrastructure.cluster.x-k8s.io/v1', kind: 'FakeCluster' };
      await client.create(fakeClusters, { ...played, metadata: here(clusterName) });
      await client.create(fakeControlPlanes, {
        apiVersion: 'controlplane.cluster.x-k8s.io/v1',
        kind: 'FakeControlPlane',
        metadata: here(clusterName),
      });
      await client.create(clusters, {
        apiVersion: coreApiVersion,
        kind: 'Cluster',
        metadata: here(clusterName),
        spec: {
          controlPlaneEndpoint: { host: '192.0.2.1', port: 6443 },
          infrastructureRef: refTo('FakeCluster', clusterName),
          controlPlaneRef: refTo('FakeControlPlane', clusterName),
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
        kind: 'FakeMachineTemplate',
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
        // Core finds affected objects by this label when a Cluster is paused or resumed; its webhook would set it.
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
              infrastructureRef: refTo('FakeMachineTemplate', template),
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
    startOne: async () => {
      await harness.start({ replicas: 1 });
      const [machine] = await harness.machines();
      if (machine === undefined) throw new Error('there is no Machine');
      return machine.metadata.name;
    },
    addPod: async (name, node, podLabels = {}) => {
      await client.create(pods, {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { ...here(name), labels: podLabels },
        spec: {
          nodeName: node,
          containers: [{ name: 'vm', image: 'played' }],
          tolerations: [{ operator: 'Exists' }],
          terminationGracePeriodSeconds: 1,
        },
      });
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
    waitFor: async (what, read) => {
      const end = host.now() + host.timeoutMs;
      for (;;) {
        const found = await read();
        if (found !== undefined && found !== false) return found;
        if (host.now() > end) throw new Error(`timed out waiting until ${what}: ${await dumpState(harness)}`);
        await step();
      }
    },
    waitForCondition: (read, type, expected) =>
      harness.waitFor(`${type} is ${expected}`, async () => {
        const object = await read();
        return object && conditionOf(object, type) === expected && object;
      }),
    waitUntilGone: (name) =>
      harness.waitFor('the Machine is gone', async () => (await harness.machine(name)) === undefined),
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

/** The state, for the message of a timeout. */
const dumpState = async (harness: Harness): Promise<string> => {
  const seen = {
    cluster: (await harness.cluster().catch(() => undefined))?.status,
    deployment: (await harness.deployment().catch(() => undefined))?.status,
    machines: (await harness.machines()).map(({ metadata, status }) => [metadata.name, status]),
    hosts: (await harness.hosts()).map(({ metadata, status }) => [metadata.name, metadata.deletionTimestamp, status]),
  };
  return JSON.stringify(seen, undefined, 1);
};
