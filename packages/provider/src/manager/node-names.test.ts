import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { formatProviderID, machine, type MachineSpec, macHost } from '@tartan/api';
import { certificateSigningRequests, getCondition, ignoreNotFound, nodes } from '@tartan/kube';
import { clusterMember } from '../core/testing/cluster-member.ts';
import { joinGroup, kubeletClientSigner, kubeletServingSigner, nodesGroup } from '../identity/names.ts';
import { alternativeNames, generalName, makeCSR, subjectOf } from '../identity/testing/make-csr.ts';
import { fakeHostWork } from '../machine/testing/fakes.ts';
import { createHarness, namespace, optionsWith } from './testing/harness.ts';
import { oneMac } from './testing/one-mac.ts';

const serverID = '6f1c0a52-0d7e-4a2b-8f43-3c2d1b0a9e87';
const ours = formatProviderID({ zone: 'fr-par-1', serverID });
const address = '192.0.2.7';
const elsewhere = 'default';
const linux = 'linux-1';

/** A manager with one Mac in its pool, on a cluster that has other Nodes. */
const setUp = async (t: TestContext, ...flags: readonly string[]) => {
  const harness = await createHarness(t);
  const { client, start, installCore, pass, as, refused } = harness;
  await installCore();
  const mac = oneMac(serverID);
  const hostWork = fakeHostWork();
  const startManager = (...more: readonly string[]) =>
    start('a', { pool: mac.pool, hostWork, options: optionsWith(...more) });
  let manager = startManager(...flags);
  await pass(3_000);
  let asked = 0;
  /** Requests a certificate and returns the verdict, if there is one within a minute. */
  const verdict = async (
    who: ReturnType<typeof as>,
    name: string,
    signer: string,
    expirationSeconds: number | 'unsaid' = 3600,
  ): Promise<string> => {
    const serving = signer === kubeletServingSigner;
    const names = alternativeNames(generalName.ip(192, 0, 2, 7), generalName.dns(name));
    const request = makeCSR({ subject: subjectOf(name), ...(serving && { attributes: [names] }) });
    asked += 1;
    const { metadata } = await who.create(certificateSigningRequests, {
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: { name: `csr-${asked}` },
      spec: {
        request,
        signerName: signer,
        usages: [serving ? 'server auth' : 'client auth', 'digital signature'],
        ...(expirationSeconds !== 'unsaid' && { expirationSeconds }),
      },
    });
    await pass(60_000, 5_000);
    const { status } = await client.get(certificateSigningRequests, { name: metadata.name });
    return status?.conditions?.map(({ type, reason }) => `${type} ${reason}`).join() ?? 'none';
  };
  const statusOf = async (at: { namespace: string; name: string }) => (await client.get(machine.resource, at)).status;
  return {
    ...harness,
    mac,
    pass,
    statusOf,
    restart: async (...more: readonly string[]) => {
      await manager.stop();
      manager = startManager(...more);
      await pass(30_000);
    },
    addNode: async (name: string, providerID: string | undefined, internalIP = '10.1.2.3') => {
      const spec = { ...(providerID && { providerID }) };
      await client.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name }, spec });
      const status = {
        addresses: [{ type: 'InternalIP', address: internalIP }],
        conditions: [{ type: 'Ready', status: 'True' }],
      };
      await client.patch(nodes, { name }, { type: 'merge', body: { status } }, { subresource: 'status' });
    },
    /** Created by Cluster API, unless it stands alone. */
    addMachine: async (
      at: { namespace: string; name: string },
      { alone = false, spec = {} }: { alone?: boolean; spec?: Partial<MachineSpec> } = {},
    ) => {
      const metadata = { ...at, ...(alone ? {} : await clusterMember(client, at)) };
      await client.create(machine.resource, machine.make({ metadata, spec: { fleetName: 'runners', ...spec } }));
      await pass(30_000, 1_000);
    },
    reason: async (at: { namespace: string; name: string }, type: string) =>
      getCondition((await statusOf(at))?.conditions, type)?.reason,
    /** By the Mac of a machine, with the token that was minted for it. */
    join: async (at: { namespace: string; name: string }): Promise<string> => {
      const token = (await statusOf(at))?.joinTokenID;
      if (token === undefined) return 'no token';
      return verdict(
        as(`system:bootstrap:${token}`, ['system:bootstrappers', joinGroup]),
        at.name,
        kubeletClientSigner,
      );
    },
    /** By a kubelet of that name, Mac or not. Those of Linux set no expirationSeconds. */
    renew: (name: string, seconds?: 'unsaid') =>
      verdict(as(`system:node:${name}`, [nodesGroup]), name, kubeletClientSigner, seconds),
    serve: (name: string) => verdict(as(`system:node:${name}`, [nodesGroup]), name, kubeletServingSigner),
    hasRights: () => assert.deepEqual(refused, []),
  };
};

describe('a Node that is not a Mac', () => {
  test('is not impersonated by a machine of its name in another namespace', async (t) => {
    const providerID = 'aws:///eu-west-1a/i-0123456789abcdef0';
    for (const spec of [{}, { providerID }]) {
      const { addNode, addMachine, join, renew, serve, statusOf, reason, mac, hasRights } = await setUp(t);
      const at = { namespace: elsewhere, name: linux };
      await addNode(linux, providerID);
      await addMachine(at, { alone: true, spec });
      assert.equal(await join(at), 'no token');
      assert.equal(await renew(linux, 'unsaid'), 'none', 'the renewal of its kubelet is none of our business');
      assert.equal(await serve(linux), 'none');
      assert.equal(await reason(at, 'Allowed'), 'NamespaceNotAllowed');
      assert.equal(await reason(at, 'Provisioned'), 'NotAllowed');
      assert.equal((await statusOf(at))?.serverID, undefined);
      assert.deepEqual(mac.calls, []);
      hasRights();
    }
  });

  test('is not impersonated by a machine of its name in an allowed namespace: no Mac is reserved', async (t) => {
    for (const providerID of ['aws:///eu-west-1a/i-0123456789abcdef0', undefined]) {
      const { client, pass, addNode, addMachine, join, renew, serve, statusOf, reason, mac } = await setUp(t);
      const at = { namespace, name: linux };
      await addNode(linux, providerID);
      await addMachine(at, { spec: { ...(providerID && { providerID }) } });
      assert.equal(await join(at), 'no token');
      assert.equal(await renew(linux, 'unsaid'), 'none');
      assert.equal(await serve(linux), 'none');
      assert.equal(await reason(at, 'Provisioned'), 'NodeNameTaken');
      assert.equal((await statusOf(at))?.serverID, undefined);
      assert.deepEqual(mac.calls, []);
      await client.delete(machine.resource, at);
      await pass(10_000);
      assert.equal(await ignoreNotFound(client.get(machine.resource, at)), undefined);
      assert.ok(await ignoreNotFound(client.get(nodes, { name: linux })), 'and its deletion does not delete the Node');
    }
  });

  test('that appears after the reservation blocks the approval', async (t) => {
    const { client, addNode, addMachine, join, renew, serve, statusOf, mac } = await setUp(t);
    const at = { namespace, name: linux };
    await addMachine(at);
    assert.equal((await statusOf(at))?.serverID, serverID);
    assert.deepEqual(mac.calls, [`rename ${linux}`]);
    for (const providerID of ['aws:///eu-west-1a/i-0123456789abcdef0', undefined]) {
      await addNode(linux, providerID);
      assert.equal(await join(at), 'Denied NodeNameTaken');
      assert.equal(await renew(linux, 'unsaid'), 'none');
      assert.equal(await serve(linux), 'none');
      await client.delete(nodes, { name: linux });
    }
    assert.equal(await join(at), 'Approved MachineJoins', 'the name is free again');
  });

  test('that replaces the Node of a Mac gets no certificate from us', async (t) => {
    const { client, addNode, addMachine, join, renew, serve } = await setUp(t);
    const at = { namespace, name: 'mac-1' };
    await addMachine(at);
    assert.equal(await join(at), 'Approved MachineJoins');
    await addNode('mac-1', ours);
    assert.equal(await renew('mac-1'), 'Approved NodeRenewsItself');
    assert.equal(await serve('mac-1'), 'Approved MachineServes');
    await client.delete(nodes, { name: 'mac-1' });
    assert.equal(await renew('mac-1'), 'Approved NodeRenewsItself', 'its agent registers it anew');
    await addNode('mac-1', 'aws:///eu-west-1a/i-0123456789abcdef0');
    assert.equal(await renew('mac-1'), 'none');
    assert.equal(await serve('mac-1'), 'none');
  });
});

describe('a Node without a providerID', () => {
  test('belongs to the machine that holds the Mac at its address with the pinned host key', async (t) => {
    const { client, addNode, addMachine, join, serve, statusOf } = await setUp(t);
    const at = { namespace, name: 'mac-1' };
    await addNode('mac-1', undefined, address);
    await addMachine(at, { spec: { providerID: ours } });
    assert.equal((await statusOf(at))?.initialization?.provisioned, true);
    assert.equal(await join(at), 'Approved MachineJoins');
    assert.equal(await serve('mac-1'), 'Approved MachineServes');
    const repin = (hostKeyEpoch: number) =>
      client.patch(
        machine.resource,
        at,
        { type: 'merge', body: { status: { hostKeyEpoch } } },
        { subresource: 'status' },
      );
    const { installs = 0 } = (await client.get(macHost.resource, { name: serverID })).status ?? {};
    await repin(installs + 7);
    assert.equal(await join(at), 'Denied NodeNameTaken', 'the key of another install proves nothing');
    await repin(installs);
    const patch = { type: 'merge', body: { status: { addresses: [] } } } as const;
    await client.patch(nodes, { name: 'mac-1' }, patch, { subresource: 'status' });
    assert.equal(await join(at), 'Denied NodeNameTaken', 'a Node without an address may be anybody');
  });
});

describe('a machine that this version would refuse', () => {
  test('keeps its Mac, renews its certificates and releases its Mac', async (t) => {
    const { client, pass, addNode, addMachine, join, renew, serve, restart, reason, statusOf, mac } = await setUp(
      t,
      `--machine-namespaces=${namespace},${elsewhere}`,
    );
    const at = { namespace: elsewhere, name: 'mac-1' };
    await addMachine(at);
    assert.equal(await reason(at, 'Allowed'), 'Allowed');
    assert.equal(await join(at), 'Approved MachineJoins');
    await addNode('mac-1', ours);
    await restart();
    assert.equal(await reason(at, 'Allowed'), 'NamespaceNotAllowed');
    assert.equal(await reason(at, 'Provisioned'), 'HostClaimed');
    assert.equal((await statusOf(at))?.ready, true);
    assert.equal(await renew('mac-1'), 'Approved NodeRenewsItself');
    assert.equal(await serve('mac-1'), 'Approved MachineServes');
    await client.delete(machine.resource, at);
    await pass(120_000, 1_000);
    assert.equal(await ignoreNotFound(client.get(machine.resource, at)), undefined);
    assert.match(mac.calls.join(), /,reinstall,rename tuist-pool-[^,]*$/);
  });

  test('waits for a Cluster, and continues when it has one', async (t) => {
    const { client, pass, addMachine, statusOf, reason } = await setUp(t);
    const at = { namespace, name: 'mac-1' };
    await addMachine(at, { alone: true });
    assert.equal(await reason(at, 'Allowed'), 'NotInCluster');
    assert.equal(await reason(at, 'Provisioned'), 'NotAllowed');
    assert.equal((await client.get(machine.resource, at)).metadata.finalizers, undefined);
    const metadata = await clusterMember(client, at);
    await client.patch(machine.resource, at, { type: 'merge', body: { metadata } });
    await pass(30_000, 1_000);
    assert.equal(await reason(at, 'Allowed'), 'Allowed');
    assert.equal((await statusOf(at))?.serverID, serverID);
  });
});
