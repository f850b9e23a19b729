import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { labels, machine, type MachineStatus, macHost } from '@tartan/api';
import { type CallOptions, type Client, createClient, KubeError, namespaces, nodes, type Resource } from '@tartan/kube';
import { coreClusters } from '../core/kinds.ts';
import { createHarness, namespace } from '../manager/testing/harness.ts';
import { macAddressLookup, machineLookup } from './machine-lookup.ts';

const { signal } = new AbortController();
const clusters = coreClusters('v1beta2');
const elsewhere = 'a-namespace';
const providerID = 'scw-applesilicon://fr-par-1/2f4b';

const setUp = async (t: TestContext) => {
  const { client, clock, transport } = await createHarness(t);
  await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: elsewhere } });
  const at = { namespace, name: 'mac-1' };
  // With only the rights of the manager.
  const theirs = createClient(transport, { clock });
  return {
    clock,
    of: (name = 'mac-1', allowed: readonly string[] = [namespace, elsewhere]) =>
      machineLookup(theirs, clusters, allowed)(name, signal),
    create: async (inNamespace = namespace, { name = 'mac-1', spec = {}, inCluster = true } = {}) => {
      clock.advance(60_000);
      const metadata = { name, namespace: inNamespace, ...(inCluster && { labels: { [labels.clusterName]: 'macs' } }) };
      return client.create(machine.resource, machine.make({ metadata, spec }));
    },
    setStatus: (status: MachineStatus, inNamespace = namespace) =>
      client.patch(
        machine.resource,
        { ...at, namespace: inNamespace },
        { type: 'merge', body: { status } },
        { subresource: 'status' },
      ),
    addNode: async (spec: { providerID?: string }, addresses: readonly { type: string; address: string }[] = []) => {
      await client.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'mac-1' }, spec });
      const body = { status: { addresses } };
      await client.patch(nodes, { name: 'mac-1' }, { type: 'merge', body }, { subresource: 'status' });
    },
    removeNode: () => client.delete(nodes, { name: 'mac-1' }),
    addHost: async (uid: string) => {
      const { apiVersion = '', kind = '' } = machine.make({ metadata: at });
      const consumerRef = { apiVersion, kind, ...at, uid };
      await client.create(
        macHost.resource,
        macHost.make({ metadata: { name: '2f4b' }, spec: { zone: 'fr-par-1', consumerRef } }),
      );
      const body = { status: { ip: '192.0.2.7', installs: 3 } };
      await client.patch(macHost.resource, { name: '2f4b' }, { type: 'merge', body }, { subresource: 'status' });
    },
  };
};

describe('the machine of a Node', () => {
  test('is read from the server with its token; of two machines with one name the older one is used', async (t) => {
    const { of, create, setStatus } = await setUp(t);
    assert.equal(await of(), undefined);
    const older = await create();
    await create(namespace, { name: 'mac-10' });
    // Sorts first in any list.
    await create(elsewhere);
    const nothing = {
      deleting: false,
      node: 'absent',
      serverID: undefined,
      providerID: undefined,
      tokenID: undefined,
      tokenExpiresAt: undefined,
    };
    assert.deepEqual(await of(), { uid: older.metadata.uid, ...nothing });
    await setStatus({ serverID: '2f4b', joinTokenID: 'abcdef', joinTokenExpires: '2026-01-01T01:00:00Z' });
    assert.deepEqual(await of(), {
      uid: older.metadata.uid,
      deleting: false,
      node: 'absent',
      serverID: '2f4b',
      providerID,
      tokenID: 'abcdef',
      tokenExpiresAt: Date.parse('2026-01-01T01:00:00Z'),
    });
  });

  test('may renew its certificate while its deletion waits for a pause', async (t) => {
    const { client, installCore } = await createHarness(t);
    await installCore();
    const of = machineLookup(client, clusters, [namespace]);
    const at = { namespace, name: 'mac-1' };
    const finalizer = 'example.com/wait';
    const metadata = { ...at, finalizers: [finalizer], labels: { [labels.clusterName]: 'macs' } };
    await client.create(machine.resource, machine.make({ metadata }));
    await client.create(clusters, {
      apiVersion: 'cluster.x-k8s.io/v1beta2',
      kind: 'Cluster',
      metadata: { namespace, name: 'macs' },
      spec: { paused: true },
    });
    await client.delete(machine.resource, at);
    assert.equal((await of('mac-1', signal))?.deleting, false);
    await client.patch(clusters, { namespace, name: 'macs' }, { type: 'merge', body: { spec: { paused: null } } });
    assert.equal((await of('mac-1', signal))?.deleting, true);
  });

  test('is not a machine that may have no Mac, unless it was provisioned before', async (t) => {
    const { of, create, setStatus } = await setUp(t);
    const outside = await create(elsewhere);
    assert.equal(await of('mac-1', [namespace]), undefined);
    const younger = await create();
    assert.equal((await of('mac-1', [namespace]))?.uid, younger.metadata.uid, 'nobody reserves a name from outside');
    await setStatus({ initialization: { provisioned: true } }, elsewhere);
    assert.equal((await of('mac-1', [namespace]))?.uid, outside.metadata.uid);
    await create(namespace, { name: 'mac-2', inCluster: false });
    assert.equal(await of('mac-2'), undefined);
  });

  test('a Node belongs to the machine whose Mac has its providerID; spec.providerID alone is not enough', async (t) => {
    const linux = 'aws:///eu-west-1a/i-0123456789abcdef0';
    const { of, create, setStatus, addNode, removeNode } = await setUp(t);
    await create(namespace, { spec: { providerID: linux } });
    const node = async () => (await of())?.node;
    await addNode({ providerID: linux });
    assert.equal(await node(), 'foreign');
    await setStatus({ serverID: '2f4b' });
    assert.equal(await node(), 'foreign');
    await removeNode();
    assert.equal(await node(), 'absent');
    await addNode({ providerID });
    assert.equal(await node(), 'ours');
  });

  test('a Node without a providerID belongs to the machine whose Mac has shown the pinned host key', async (t) => {
    const { of, create, setStatus, addNode, addHost, removeNode } = await setUp(t);
    const { metadata } = await create();
    const node = async () => (await of())?.node;
    const there = [{ type: 'InternalIP', address: '192.0.2.7' }];
    await addNode({}, there);
    assert.equal(await node(), 'foreign', 'it has no Mac');
    await setStatus({ serverID: '2f4b', hostKeyEpoch: 3 });
    assert.equal(await node(), 'foreign', 'the Mac is gone');
    await addHost(metadata.uid);
    assert.equal(await node(), 'ours');
    await setStatus({ hostKeyEpoch: 2 });
    assert.equal(await node(), 'foreign', 'the pin is that of an earlier install');
    await setStatus({ hostKeyEpoch: 3 });
    for (const addresses of [
      [],
      [{ type: 'InternalIP', address: '192.0.2.8' }],
      [{ type: 'Hostname', address: '192.0.2.7' }],
    ]) {
      await removeNode();
      await addNode({}, addresses);
      assert.equal(await node(), 'foreign');
    }
  });

  test('a Node without a providerID does not belong to a Mac held by somebody else', async (t) => {
    const { of, create, setStatus, addNode, addHost } = await setUp(t);
    await create();
    await addNode({}, [{ type: 'InternalIP', address: '192.0.2.7' }]);
    await setStatus({ serverID: '2f4b', hostKeyEpoch: 3 });
    await addHost('another');
    assert.equal((await of())?.node, 'foreign');
  });
});

describe('the reads behind a decision', () => {
  const live = (name: string, uid: string, minutes: number) => ({
    name,
    uid,
    resourceVersion: '1',
    creationTimestamp: `2026-01-01T00:0${minutes}:00Z`,
  });
  const machineOf = (uid: string, minutes: number) => {
    const metadata = { ...live('mac-1', uid, minutes), namespace, labels: { [labels.clusterName]: 'macs' } };
    const deleted = { ...metadata, deletionTimestamp: '2026-01-01T00:09:00Z' };
    return { ...machine.make({ metadata }), metadata: deleted, status: { serverID: '2f4b' } };
  };
  const bare = (name: string) => ({ apiVersion: 'v1', kind: 'Node', metadata: live(name, name, 0) });
  const host = { metadata: live('2f4b', 'u', 0), spec: { zone: 'fr-par-1' } };
  const answers = new Map<unknown, unknown>([
    [nodes.kind, bare('mac-1')],
    [macHost.resource.kind, host],
  ]);
  /** Two machines of one name, Nodes without a spec and a status, and a Mac that nobody holds. */
  const client = {
    list: async ({ kind }: Resource<never>, options?: CallOptions) => {
      assert.equal(options?.signal, signal);
      return { items: kind === nodes.kind ? [bare('mac-2')] : [machineOf('a', 2), machineOf('z', 1)] };
    },
    get: async ({ kind }: Resource<never>, _name: unknown, options?: CallOptions) => {
      assert.equal(options?.signal, signal);
      const found = answers.get(kind);
      if (found === undefined) throw new KubeError('notFound', kind);
      return found;
    },
  } as unknown as Pick<Client, 'get' | 'list'>;

  test('pass the signal, and find the oldest machine and Nodes without metadata', async () => {
    const found = await machineLookup(client, clusters, [namespace])('mac-1', signal);
    assert.ok(found);
    assert.deepEqual([found.uid, found.deleting, found.node], ['z', true, 'foreign']);
    assert.deepEqual(await macAddressLookup(client, { tailnet: true })('mac-1', found, signal), {
      providerAddresses: [],
      node: { kind: 'ours', internalAddresses: [] },
      tailnet: true,
      otherNodeAddresses: new Set(),
    });
  });
});
