import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { macHost } from '@tartan/api';
import { createClient, nodes } from '@tartan/kube';
import { createHarness } from '../manager/testing/harness.ts';
import type { MachineIdentity } from './csr/observe.ts';
import { macAddressLookup } from './machine-lookup.ts';

const { signal } = new AbortController();
const providerID = 'scw-applesilicon://fr-par-1/2f4b';
const machine: MachineIdentity = { uid: 'u1', deleting: false, node: 'ours', serverID: '2f4b', providerID };

describe("the addresses of a machine's Mac", () => {
  const setUp = async (t: Parameters<typeof createHarness>[0]) => {
    const { client, transport, clock } = await createHarness(t);
    const addNode = async (name: string, address: string, change: { providerID?: string; finalizers?: string[] }) => {
      const { finalizers, ...spec } = change;
      await client.create(nodes, {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name, ...(finalizers && { finalizers }) },
        spec,
      });
      const addresses = [
        { type: 'InternalIP', address },
        { type: 'Hostname', address: name },
      ];
      await client.patch(
        nodes,
        { name },
        { type: 'merge', body: { status: { addresses } } },
        { subresource: 'status' },
      );
    };
    const addHost = async (ip: string, uid: string) => {
      await client.create(macHost.resource, {
        apiVersion: 'infrastructure.cluster.x-k8s.io/v1alpha1',
        kind: 'MacHost',
        metadata: { name: '2f4b' },
        spec: {
          zone: 'fr-par-1',
          consumerRef: {
            apiVersion: 'infrastructure.cluster.x-k8s.io/v1alpha1',
            kind: 'ScalewayAppleSiliconMachine',
            namespace: 'default',
            name: 'mac-1',
            uid,
          },
        },
      });
      const body = { status: { ip } };
      await client.patch(macHost.resource, { name: '2f4b' }, { type: 'merge', body }, { subresource: 'status' });
    };
    // With only the rights of the manager.
    const theirs = createClient(transport, { clock });
    const look = (tailnet = false, who: MachineIdentity = machine) =>
      macAddressLookup(theirs, { tailnet })('mac-1', who, signal);
    return { client, addNode, addHost, look };
  };

  test('are the addresses of the held Mac at Scaleway and those of the Node', async (t) => {
    const { addNode, addHost, look } = await setUp(t);
    await addHost('192.0.2.7', 'u1');
    await addNode('mac-1', '100.64.0.7', { providerID });
    await addNode('mac-2', '100.64.0.8', {});
    const node = { kind: 'ours', internalAddresses: ['100.64.0.7'] };
    assert.deepEqual(await look(), {
      providerAddresses: ['192.0.2.7'],
      node,
      tailnet: false,
      otherNodeAddresses: new Set(),
    });
    const otherNodeAddresses = new Set(['100.64.0.8', 'mac-2']);
    assert.deepEqual(await look(true), { providerAddresses: ['192.0.2.7'], node, tailnet: true, otherNodeAddresses });
  });

  test('have no port for a simulated Mac', async (t) => {
    const { addHost, look } = await setUp(t);
    await addHost('127.0.0.1:40022', 'u1');
    assert.deepEqual((await look()).providerAddresses, ['127.0.0.1']);
  });

  test('are empty for a Mac that another machine holds, or that is gone', async (t) => {
    const { addHost, look } = await setUp(t);
    assert.deepEqual((await look()).providerAddresses, []);
    await addHost('192.0.2.7', 'u2');
    assert.deepEqual((await look()).providerAddresses, []);
    assert.deepEqual(
      (await look(false, { uid: 'u2', deleting: false, node: 'absent' })).providerAddresses,
      [],
      'nothing is reserved',
    );
  });

  test("report an absent Node when it is missing, being deleted, or another Mac's", async (t) => {
    const { client, addNode, look } = await setUp(t);
    assert.equal((await look()).node.kind, 'absent');
    await addNode('mac-1', '100.64.0.7', { providerID, finalizers: ['example.com/wait'] });
    await client.delete(nodes, { name: 'mac-1' });
    assert.equal((await look()).node.kind, 'absent');
    await client.patch(nodes, { name: 'mac-1' }, { type: 'merge', body: { metadata: { finalizers: [] } } });
    await addNode('mac-1', '100.64.0.7', { providerID: 'scw-applesilicon://fr-par-1/other' });
    assert.equal((await look()).node.kind, 'absent');
  });
});
