import { leases, type Live, nodes, pods } from '@tartan/kube';
import { microTimestamp, timestamp } from '@tartan/kube/clock';
import type { ExternalObject } from '../contract/external-object.ts';
import { nodeTaints } from '../names.ts';
import { ifThere } from '../writing/found.ts';
import { patchIfChanged, withFinalizer, withoutFinalizer } from '../writing/patch-if-changed.ts';
import type { Host } from './host.ts';
import { playedClusters, playedControlPlanes, playedMachines } from './played-kinds.ts';

const finalizer = 'played.example.com/host';

/** What a provider and the kubelets of its hosts do, one step whenever asked to. Each wish can be changed while a scenario goes on. */
export interface PlayedProvider {
  /** Whether hosts get ready. */
  provisions: boolean;
  /** Whether a host that is ready says which one it is. */
  tellsProviderID: boolean;
  /** Whether a host that is ready has a Node. */
  joins: boolean;
  /** Whether hosts are given back when their objects are deleted. */
  releases: boolean;
  /** Whether its control plane says that it is managed elsewhere. */
  managesElsewhere: boolean;
  /** Nodes whose kubelet never ends a Pod. */
  readonly hangs: Set<string>;
  /** In the order in which it was seen. */
  readonly story: string[];
  step(): Promise<void>;
}

const healthy = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'];

export const createPlayedProvider = (
  { client, now }: Pick<Host, 'client' | 'now'>,
  namespace: string,
): PlayedProvider => {
  const setStatus = (resource: typeof playedMachines, { metadata: { name } }: Live<ExternalObject>, status: object) =>
    client.patch(resource, { namespace, name }, { type: 'merge', body: { status } }, { subresource: 'status' });
  const providerIDFor = (name: string): string => `played://${namespace}/${name}`;

  const beats = new Map<string, number>();
  const beat = async (name: string): Promise<void> => {
    if (now() - (beats.get(name) ?? 0) < 10_000) return;
    beats.set(name, now());
    const lease = { namespace: 'kube-node-lease', name };
    const spec = { renewTime: microTimestamp(now()), leaseDurationSeconds: 40, holderIdentity: name };
    if (!(await ifThere(client.patch(leases, lease, { type: 'merge', body: { spec } }))))
      await client.create(leases, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: lease, spec });
    const conditions = healthy.map((type) => ({
      type,
      status: type === 'Ready' ? 'True' : 'False',
      reason: 'Played',
      message: 'as it should be',
      lastHeartbeatTime: timestamp(now()),
    }));
    await ifThere(
      client.patch(nodes, { name }, { type: 'strategic', body: { status: { conditions } } }, { subresource: 'status' }),
    );
  };

  const join = async (name: string): Promise<void> => {
    if (!(await ifThere(client.get(nodes, { name })))) {
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

  /** What a kubelet does: Pods that are to go end. */
  const endPods = async (name: string): Promise<void> => {
    if (provider.hangs.has(name)) return;
    const { items } = await client.list(pods, { fieldSelector: `spec.nodeName=${name}` });
    for (const { metadata } of items)
      if (metadata.deletionTimestamp !== undefined)
        await ifThere(
          client.delete(pods, { namespace: metadata.namespace ?? '', name: metadata.name }, { gracePeriodSeconds: 0 }),
        );
  };

  const serve = async (host: Live<ExternalObject>): Promise<void> => {
    const { name } = host.metadata;
    const provisioned = host.status?.['initialization'] !== undefined;
    if (!provider.provisions && !provisioned) return;
    const spec = provider.tellsProviderID ? { providerID: providerIDFor(name) } : {};
    const metadata = { finalizers: withFinalizer(host, finalizer) };
    await patchIfChanged(client, playedMachines, host, { metadata, spec });
    if (!provisioned) {
      const addresses = [{ type: 'InternalIP', address: '192.0.2.1' }];
      await setStatus(playedMachines, host, { initialization: { provisioned: true }, addresses });
    }
    if (provider.joins) await join(name);
    await endPods(name);
  };

  const release = async (host: Live<ExternalObject>): Promise<void> => {
    const { name } = host.metadata;
    if (await ifThere(client.get(nodes, { name }))) await endPods(name).then(() => beat(name));
    if (!provider.releases) return;
    const node = await ifThere(client.get(nodes, { name }));
    provider.story.push(`host released ${node ? 'while its Node is there' : 'without a Node'}`);
    const metadata = { finalizers: withoutFinalizer(host, finalizer) };
    await ifThere(client.patch(playedMachines, { namespace, name }, { type: 'merge', body: { metadata } }));
  };

  const isOwned = ({ metadata }: Live<ExternalObject>, kind: string): boolean =>
    (metadata.ownerReferences ?? []).some((owner) => owner.kind === kind);

  const provider: PlayedProvider = {
    provisions: true,
    tellsProviderID: true,
    joins: true,
    releases: true,
    managesElsewhere: true,
    hangs: new Set(),
    story: [],
    step: async () => {
      for (const cluster of (await client.list(playedClusters, { namespace })).items)
        if (isOwned(cluster, 'Cluster') && cluster.status === undefined)
          await setStatus(playedClusters, cluster, { initialization: { provisioned: true } });
      for (const plane of (await client.list(playedControlPlanes, { namespace })).items)
        if (isOwned(plane, 'Cluster') && plane.status === undefined)
          await setStatus(playedControlPlanes, plane, {
            initialization: { controlPlaneInitialized: true },
            externalManagedControlPlane: provider.managesElsewhere,
          });
      for (const host of (await client.list(playedMachines, { namespace })).items) {
        if (!isOwned(host, 'Machine')) continue;
        await (host.metadata.deletionTimestamp === undefined ? serve(host) : release(host));
      }
    },
  };
  return provider;
};
