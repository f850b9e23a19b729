import { type customResourceDefinitions, defineResource, leases, type Live, nodes, pods } from '@tartan/kube';
import { microTimestamp, timestamp } from '@tartan/kube/clock';
import type { ExternalObject } from '../external/contract.ts';
import { nodeTaints } from '../names.ts';
import { ignoreNotFound, patchIfChanged, withFinalizer, withoutFinalizer } from '../writes.ts';
import type { Host } from './harness.ts';

type Definition = NonNullable<(typeof customResourceDefinitions)['ofType']>;

const infrastructure = 'infrastructure.cluster.x-k8s.io';
const controlPlane = 'controlplane.cluster.x-k8s.io';

const kinds = [
  { group: infrastructure, kind: 'FakeCluster', plural: 'fakeclusters' },
  { group: infrastructure, kind: 'FakeMachine', plural: 'fakemachines' },
  { group: infrastructure, kind: 'FakeMachineTemplate', plural: 'fakemachinetemplates' },
  { group: controlPlane, kind: 'FakeControlPlane', plural: 'fakecontrolplanes' },
] as const;

type FakeKind = (typeof kinds)[number]['kind'];

const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } as const;

/** Minimal kinds that implement the contract. */
export const fakeDefinitions: readonly Definition[] = kinds.map(({ group, kind, plural }) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.${group}`, labels: { 'cluster.x-k8s.io/v1beta2': 'v1' } },
  spec: {
    group,
    scope: 'Namespaced',
    names: { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase() },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: 'object', properties: { spec: open, status: open } } },
      },
    ],
  },
}));

const resourceOf = (kind: FakeKind) => {
  const { group, plural } = kinds.find((each) => each.kind === kind) ?? kinds[0];
  return defineResource<ExternalObject>({ group, version: 'v1', kind, plural, namespaced: true });
};

export const fakeClusters = resourceOf('FakeCluster');
export const fakeMachines = resourceOf('FakeMachine');
export const fakeTemplates = resourceOf('FakeMachineTemplate');
export const fakeControlPlanes = resourceOf('FakeControlPlane');

/** The form of core's references. */
export const refTo = (kind: FakeKind, name: string): { apiGroup: string; kind: string; name: string } => ({
  apiGroup: kind === 'FakeControlPlane' ? controlPlane : infrastructure,
  kind,
  name,
});

const finalizer = 'played.example.com/host';

/** Acts as a provider and as the kubelets of its hosts, one step per call. Each setting can change during a scenario. */
export interface FakeProvider {
  /** Whether hosts become provisioned. */
  provisions: boolean;
  /** Whether a provisioned host reports its provider ID. */
  reportsProviderID: boolean;
  /** Whether a provisioned host gets a Node. */
  joins: boolean;
  /** Whether deleted hosts are released. */
  releases: boolean;
  /** Whether its control plane is externally managed. */
  externallyManagedControlPlane: boolean;
  /** Nodes whose kubelet never ends a Pod. */
  readonly hungNodes: Set<string>;
  /** In the order of observation. */
  readonly log: string[];
  step(): Promise<void>;
}

const healthy = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'];

export const createFakeProvider = ({ client, now }: Pick<Host, 'client' | 'now'>, namespace: string): FakeProvider => {
  const setStatus = (resource: typeof fakeMachines, { metadata: { name } }: Live<ExternalObject>, status: object) =>
    client.patch(resource, { namespace, name }, { type: 'merge', body: { status } }, { subresource: 'status' });
  const providerIDFor = (name: string): string => `played://${namespace}/${name}`;

  const beats = new Map<string, number>();
  const beat = async (name: string): Promise<void> => {
    if (now() - (beats.get(name) ?? 0) < 10_000) return;
    beats.set(name, now());
    const lease = { namespace: 'kube-node-lease', name };
    const spec = { renewTime: microTimestamp(now()), leaseDurationSeconds: 40, holderIdentity: name };
    if (!(await ignoreNotFound(client.patch(leases, lease, { type: 'merge', body: { spec } }))))
      await client.create(leases, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: lease, spec });
    const conditions = healthy.map((type) => ({
      type,
      status: type === 'Ready' ? 'True' : 'False',
      reason: 'Played',
      message: 'as it should be',
      lastHeartbeatTime: timestamp(now()),
    }));
    await ignoreNotFound(
      client.patch(nodes, { name }, { type: 'strategic', body: { status: { conditions } } }, { subresource: 'status' }),
    );
  };

  const join = async (name: string): Promise<void> => {
    if (!(await ignoreNotFound(client.get(nodes, { name })))) {
      await client.create(nodes, {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name },
        spec: { providerID: providerIDFor(name), taints: [{ ...nodeTaints.uninitialized }] },
      });
      beats.delete(name);
    }
    await beat(name);
  };

  /** Acts as the kubelet: ends deleted Pods. */
  const endPods = async (name: string): Promise<void> => {
    if (provider.hungNodes.has(name)) return;
    const { items } = await client.list(pods, { fieldSelector: `spec.nodeName=${name}` });
    for (const { metadata } of items)
      if (metadata.deletionTimestamp !== undefined)
        await ignoreNotFound(
          client.delete(pods, { namespace: metadata.namespace ?? '', name: metadata.name }, { gracePeriodSeconds: 0 }),
        );
  };

  const serve = async (host: Live<ExternalObject>): Promise<void> => {
    const { name } = host.metadata;
    const provisioned = host.status?.['initialization'] !== undefined;
    if (!provider.provisions && !provisioned) return;
    const spec = provider.reportsProviderID ? { providerID: providerIDFor(name) } : {};
    const metadata = { finalizers: withFinalizer(host, finalizer) };
    await patchIfChanged(client, fakeMachines, host, { metadata, spec });
    if (!provisioned) {
      const addresses = [{ type: 'InternalIP', address: '192.0.2.1' }];
      await setStatus(fakeMachines, host, { initialization: { provisioned: true }, addresses });
    }
    if (provider.joins) await join(name);
    await endPods(name);
  };

  const release = async (host: Live<ExternalObject>): Promise<void> => {
    const { name } = host.metadata;
    if (await ignoreNotFound(client.get(nodes, { name }))) await endPods(name).then(() => beat(name));
    if (!provider.releases) return;
    const node = await ignoreNotFound(client.get(nodes, { name }));
    provider.log.push(`host released ${node ? 'while its Node is there' : 'without a Node'}`);
    const metadata = { finalizers: withoutFinalizer(host, finalizer) };
    await ignoreNotFound(client.patch(fakeMachines, { namespace, name }, { type: 'merge', body: { metadata } }));
  };

  const isOwned = ({ metadata }: Live<ExternalObject>, kind: string): boolean =>
    (metadata.ownerReferences ?? []).some((owner) => owner.kind === kind);

  const provider: FakeProvider = {
    provisions: true,
    reportsProviderID: true,
    joins: true,
    releases: true,
    externallyManagedControlPlane: true,
    hungNodes: new Set(),
    log: [],
    step: async () => {
      for (const cluster of (await client.list(fakeClusters, { namespace })).items)
        if (isOwned(cluster, 'Cluster') && cluster.status === undefined)
          await setStatus(fakeClusters, cluster, { initialization: { provisioned: true } });
      for (const plane of (await client.list(fakeControlPlanes, { namespace })).items)
        if (isOwned(plane, 'Cluster') && plane.status === undefined)
          await setStatus(fakeControlPlanes, plane, {
            initialization: { controlPlaneInitialized: true },
            externalManagedControlPlane: provider.externallyManagedControlPlane,
          });
      for (const host of (await client.list(fakeMachines, { namespace })).items) {
        if (!isOwned(host, 'Machine')) continue;
        await (host.metadata.deletionTimestamp === undefined ? serve(host) : release(host));
      }
    },
  };
  return provider;
};
