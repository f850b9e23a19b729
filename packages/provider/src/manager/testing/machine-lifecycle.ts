import assert from 'node:assert/strict';
import {
  externalControlPlane,
  formatProviderID,
  machine,
  macHost,
  remoteServiceAccount,
  secretNames,
} from '@tartan/api';
import { type Client, ignoreNotFound, nodes, secrets, serviceAccounts } from '@tartan/kube';
import { coreClusters } from '../../core/cluster.ts';
import { clusterMember } from '../../core/testing/cluster-member.ts';
import { namespace } from './harness.ts';

export interface LifecycleDeps {
  readonly client: Client;
  readonly serverID: string;
  /** Where core finds the API server. Without it: by the Service, which not every server has. */
  readonly server?: string;
  /** Asks until the answer is not undefined. */
  readonly eventually: <T>(look: () => Promise<T | undefined>) => Promise<T>;
}

/** Core's Cluster with its control plane, and one machine from its claim to its end: what every controller does at least once. */
export const runMachineLifecycle = async ({ client, serverID, server, eventually }: LifecycleDeps): Promise<void> => {
  const account = { name: remoteServiceAccount, namespace };
  await client.create(serviceAccounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: account });
  const clusters = coreClusters('v1beta2');
  const metadata = { name: 'macs', namespace };
  const cluster = await client.create(clusters, { apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'Cluster', metadata });
  const owner = { apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'Cluster', name: 'macs', uid: cluster.metadata.uid };
  await client.create(
    externalControlPlane.resource,
    externalControlPlane.make({
      metadata: { ...metadata, ownerReferences: [owner] },
      ...(server && { spec: { server } }),
    }),
  );
  await eventually(() => ignoreNotFound(client.get(secrets, { namespace, name: secretNames.kubeconfig('macs') })));

  const at = { namespace, name: 'mac-1' };
  const member = await clusterMember(client, at);
  await client.create(
    machine.resource,
    machine.make({ metadata: { ...at, ...member }, spec: { fleetName: 'runners' } }),
  );
  const status = async () => (await client.get(machine.resource, at)).status;
  await eventually(async () => (await status())?.initialization?.provisioned);
  const providerID = formatProviderID({ zone: 'fr-par-1', serverID });
  assert.equal((await client.get(machine.resource, at)).spec.providerID, providerID);
  await client.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'mac-1' }, spec: { providerID } });
  const conditions = [{ type: 'Ready', status: 'True' }];
  const ready = { type: 'merge', body: { status: { conditions } } } as const;
  await client.patch(nodes, { name: 'mac-1' }, ready, { subresource: 'status' });
  await eventually(async () => (await status())?.ready || undefined);

  await client.delete(machine.resource, at);
  await eventually(async () => ((await ignoreNotFound(client.get(machine.resource, at))) ? undefined : true));
  assert.equal(await ignoreNotFound(client.get(nodes, { name: 'mac-1' })), undefined);
  assert.equal(await ignoreNotFound(client.get(secrets, { namespace, name: secretNames.machine('mac-1') })), undefined);
  await eventually(
    async () => (await client.get(macHost.resource, { name: serverID })).status?.state === 'pool' || undefined,
  );
};
