import {
  getCondition,
  isKubeError,
  type KubeObject,
  type Live,
  namespaces,
  nodes,
  type Resource,
  secrets,
} from '@tartan/kube';
import type { ExternalObject } from '../contract/external-object.ts';
import {
  type Cluster,
  clusters,
  type Machine,
  type MachineDeployment,
  type MachineSet,
  machineDeployments,
  machines,
  machineSets,
} from '../kinds.ts';
import { coreApiVersion, labels } from '../names.ts';
import { ifThere } from '../writing/found.ts';
import type { Host } from './host.ts';
import { playedClusters, playedControlPlanes, playedMachines, playedTemplates, refTo } from './played-kinds.ts';
import { createPlayedProvider, type PlayedProvider } from './played-provider.ts';

type Rollout = NonNullable<NonNullable<MachineDeployment['spec']>['rollout']>;

interface DeploymentWish {
  readonly replicas: number;
  readonly rollout?: Rollout;
  readonly template?: string;
}

/** What one scenario works with: a namespace, a provider in it, and words for what is there. */
export interface Stage {
  readonly host: Host;
  readonly namespace: string;
  readonly provider: PlayedProvider;
  addCluster(spec?: Cluster['spec']): Promise<void>;
  addKubeconfig(withLabel?: boolean): Promise<void>;
  addTemplate(name: string): Promise<void>;
  addDeployment(wish: DeploymentWish): Promise<void>;
  /** A cluster with that many Machines, all of them available. */
  running(wish: DeploymentWish): Promise<void>;
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
  until<T>(what: string, look: () => Promise<T | undefined | false>): Promise<T>;
  untilAvailable(replicas: number): Promise<void>;
  /** Lets them work for so many moments. */
  moments(count: number): Promise<void>;
}

const clusterName = 'played';
export const deploymentName = 'workers';

const nodeOf = ({ client }: Host, name: string) => ifThere(client.get(nodes, { name }));

export const conditionOf = (
  object: { status?: { conditions?: Parameters<typeof getCondition>[0] } } | undefined,
  type: string,
): string => {
  const found = getCondition(object?.status?.conditions, type);
  return found ? `${found.status} ${found.reason}` : 'none';
};

export const messageOf = (...[object, type]: Parameters<typeof conditionOf>): string =>
  getCondition(object?.status?.conditions, type)?.message ?? '';

export const createStage = async (host: Host, namespace: string): Promise<Stage> => {
  const { client } = host;
  const provider = createPlayedProvider(host, namespace);
  const here = (name: string): { namespace: string; name: string } => ({ namespace, name });
  await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });

  const step = async (): Promise<void> => {
    try {
      await provider.step();
    } catch (error) {
      // Core wrote at the same time, or has taken it away: the next step sees that.
      if (!isKubeError(error, 'conflict', 'notFound', 'alreadyExists')) throw error;
    }
    await host.moment();
  };
  const sorted = <T extends KubeObject>(items: Live<T>[]): Live<T>[] =>
    items.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  const listed = async <T extends KubeObject>(resource: Resource<T>): Promise<Live<T>[]> =>
    sorted((await client.list(resource, { namespace })).items);

  const stage: Stage = {
    host,
    namespace,
    provider,
    addCluster: async (spec = {}) => {
      const played = { apiVersion: 'infrastructure.cluster.x-k8s.io/v1', kind: 'PlayedCluster' };
      await client.create(playedClusters, { ...played, metadata: here(clusterName) });
      await client.create(playedControlPlanes, {
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
      await client.create(playedTemplates, {
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
    running: async (wish) => {
      await stage.addCluster();
      await stage.addKubeconfig();
      await stage.addTemplate(wish.template ?? 'first');
      await stage.addDeployment(wish);
      await stage.untilAvailable(wish.replicas);
    },
    cluster: () => client.get(clusters, here(clusterName)),
    deployment: () => client.get(machineDeployments, here(deploymentName)),
    sets: () => listed(machineSets),
    machines: () => listed(machines),
    machine: (name) => ifThere(client.get(machines, here(name))),
    hosts: () => listed(playedMachines),
    node: (name) => nodeOf(host, name),
    patch: async (resource, name, body) => {
      await client.patch(resource, here(name), { type: 'merge', body });
    },
    remove: async (resource, name) => {
      await client.delete(resource, here(name));
    },
    until: async (what, look) => {
      const end = host.now() + host.patienceMs;
      for (;;) {
        const found = await look();
        if (found !== undefined && found !== false) return found;
        if (host.now() > end) throw new Error(`waited in vain until ${what}: ${await told(stage)}`);
        await step();
      }
    },
    untilAvailable: async (replicas) => {
      await stage.until(`${replicas} Machines are available, and no others there`, async () => {
        const { metadata, status } = await stage.deployment();
        return (
          status?.observedGeneration === metadata.generation &&
          status?.replicas === replicas &&
          status.availableReplicas === replicas &&
          status.upToDateReplicas === replicas &&
          (await stage.machines()).length === replicas
        );
      });
    },
    moments: async (count) => {
      for (let passed = 0; passed < count; passed += 1) await step();
    },
  };
  return stage;
};

/** What is there, for whoever reads that something did not come true. */
const told = async (stage: Stage): Promise<string> => {
  const seen = {
    cluster: (await stage.cluster().catch(() => undefined))?.status,
    deployment: (await stage.deployment().catch(() => undefined))?.status,
    machines: (await stage.machines()).map(({ metadata, status }) => [metadata.name, status]),
    hosts: (await stage.hosts()).map(({ metadata, status }) => [metadata.name, metadata.deletionTimestamp, status]),
  };
  return JSON.stringify(seen, undefined, 1);
};
