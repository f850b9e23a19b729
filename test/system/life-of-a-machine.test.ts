import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import {
  annotations,
  labels,
  macFleet,
  type MacFleet,
  machine,
  macHost,
  parseProviderID,
  type ScalewayAppleSiliconMachine,
  secretNames,
  serverNames,
} from '@tartan/api';
import { certificateSigningRequests, type Live, nodes, secrets } from '@tartan/kube';
import type { Mac } from '@tartan/sim-mac';
import type { SimulatedServer } from '@tartan/sim-scaleway';
import { type Harness, namespace, startHarness } from './harness.ts';
import type { RunningProvider } from './provider.ts';

type Machine = Live<ScalewayAppleSiliconMachine>;
type Node = NonNullable<(typeof nodes)['ofType']>;

const fleet = 'fleet-a';
const isReady = ({ status }: Node): boolean =>
  (status?.conditions ?? []).some(({ type, status: value }) => type === 'Ready' && value === 'True');
const macOf = ({ mac }: SimulatedServer): Mac => {
  assert(mac);
  return mac;
};
const poolNamed = ({ name }: SimulatedServer): boolean => /^tuist-pool-[0-9a-f]{8}$/.test(name);

describe('the life of a machine', { timeout: 300_000 }, () => {
  let harness: Harness;
  let provider: RunningProvider;
  /** Every state of every MacFleet, in order. */
  const fleets: MacFleet[] = [];
  const over = new AbortController();
  let watching: Promise<void>;

  const readyMachine = (name: string): Promise<Machine> =>
    harness.waitFor(machine.resource, name, 'is ready', ({ status }) => status?.ready === true);
  const serverOf = ({ status }: Machine): SimulatedServer => {
    const found = harness.macs.scaleway.servers().find(({ id }) => id === status?.serverID);
    assert(found);
    return found;
  };

  before(async () => {
    harness = await startHarness({ macs: 3, fleet });
    provider = await harness.startProvider({ version: '0.1.0' });
    watching = (async () => {
      const { resourceVersion } = await harness.client.list(macFleet.resource);
      const { signal } = over;
      for await (const event of harness.client.watch(macFleet.resource, { resourceVersion, signal }))
        if (event.type !== 'BOOKMARK') fleets.push(event.object);
    })().catch(() => {});
  });
  after(async () => {
    over.abort();
    await watching;
    await harness.stop();
  });

  test('two machines claim Macs from a pool of three and bootstrap them over SSH, and their Nodes are Ready', async () => {
    await harness.createMachine('mac-a');
    await harness.createMachine('mac-b');
    for (const each of [await readyMachine('mac-a'), await readyMachine('mac-b')]) {
      const { name } = each.metadata;
      const server = serverOf(each);
      assert.equal(server.name, name);
      assert.deepEqual(parseProviderID(each.spec.providerID ?? ''), { zone: server.zone, serverID: server.id });
      // The agent starts in the middle of the push, and sees its last stamps a moment later.
      const saysAll = ({ metadata }: Node): boolean =>
        metadata?.annotations?.[annotations.hostConfigHash] === each.status?.hostConfigHash;
      const node = await harness.waitFor(
        nodes,
        name,
        'is Ready with the hash of every step',
        (seen) => isReady(seen) && saysAll(seen),
      );
      assert.equal(node.spec?.providerID, each.spec.providerID);
      assert.equal(node.metadata.labels?.[labels.fleet], fleet);
      assert.equal(each.status?.phase, 'Ready');
      assert.equal(each.status.initialization?.provisioned, true);
      const host = await harness.waitFor(
        macHost.resource,
        server.id,
        'is held',
        ({ status }) => status?.state === 'held',
      );
      assert.equal(host.spec.consumerRef?.uid, each.metadata.uid);
    }
    assert.equal(harness.macs.scaleway.servers().filter(poolNamed).length, 1);
  });

  /** Requests for this signer, unordered. */
  const requestsTo = async (signer: string) =>
    (await harness.client.list(certificateSigningRequests)).items.filter(({ spec }) => spec.signerName === signer);
  const joins = 'kubernetes.io/kube-apiserver-client-kubelet';

  test('their Nodes have their own certificates', async () => {
    const requests = await requestsTo(joins);
    const reasons = requests.map(({ status }) => (status?.conditions ?? []).map(({ reason }) => reason).join());
    assert.deepEqual(reasons, ['MachineJoins', 'MachineJoins']);
    for (const { spec } of requests) assert.match(spec.username ?? '', /^system:bootstrap:/);
  });

  test('a new agent is rolled out: first to one machine alone, then to the other', async () => {
    assert.deepEqual(await provider.stop(), { ok: true });
    fleets.length = 0;
    provider = await harness.startProvider({ version: '0.2.0' });
    for (const name of ['mac-a', 'mac-b'])
      await harness.waitFor(
        nodes,
        name,
        'runs 0.2.0',
        (node) => node.metadata.annotations?.[annotations.agentVersion] === 'v0.2.0' && isReady(node),
      );
    await harness.waitFor(
      macFleet.resource,
      fleet,
      'is updated',
      ({ status }) => status?.updated === 2 && (status.turns ?? []).length === 0,
    );
    const turns = fleets.map(({ status }) => status?.turns ?? []);
    assert.ok(turns.every((each) => each.length <= 1));
    const order = turns.flat().map((turn) => `${turn.machine} ${turn.canary ? 'first' : 'then'}`);
    assert.deepEqual(new Set(order.map((each) => each.split(' ')[1])), new Set(['first', 'then']));
    assert.equal(new Set(order).size, 2);
    // Both kept their servers and their identity.
    assert.equal((await requestsTo(joins)).length, 2);
  });

  test('the Mac of a deleted machine is released and wiped', async () => {
    const gone = await harness.client.get(machine.resource, { namespace, name: 'mac-a' });
    const server = serverOf(gone);
    const keyBefore = macOf(server).hostKey();
    await harness.client.delete(machine.resource, { namespace, name: 'mac-a' });
    await harness.waitUntilGone(machine.resource, 'mac-a');
    await harness.waitUntilGone(nodes, 'mac-a');
    await harness.waitUntilGone(secrets, secretNames.machine('mac-a'));
    const host = await harness.waitFor(
      macHost.resource,
      server.id,
      'is back in the pool',
      ({ status }) => status?.state === 'pool',
    );
    assert.equal(host.spec.consumerRef, undefined);
    assert.equal(host.spec.release, undefined);
    assert.ok(poolNamed(server), server.name);
    assert.equal(server.installs, 1);
    assert.notEqual(macOf(server).hostKey(), keyBefore);
    assert.deepEqual(host.status?.retiredHostKeys, [keyBefore]);
    assert.equal(existsSync(macOf(server).path('/var/db/tartan')), false);
    assert.ok(host.status?.name?.startsWith(serverNames.defaultPoolPrefix));
  });

  test('deleted MacHosts are restored from the names of servers alone', async () => {
    const held = await harness.client.get(machine.resource, { namespace, name: 'mac-b' });
    const before = (await harness.client.list(macHost.resource)).items;
    for (const { metadata } of before) await harness.client.delete(macHost.resource, { name: metadata.name });
    const states = await Promise.all(
      before.map(async ({ metadata: { name, uid } }) => {
        const found = await harness.waitFor(
          macHost.resource,
          name,
          'is there again',
          ({ metadata, status }) => metadata.uid !== uid && status?.state !== undefined,
        );
        return `${found.status?.state} ${found.spec.consumerRef?.uid ?? 'nobody'}`;
      }),
    );
    assert.deepEqual(states.toSorted(), [`held ${held.metadata.uid}`, 'pool nobody', 'pool nobody']);
    assert.equal((await readyMachine('mac-b')).metadata.uid, held.metadata.uid);
  });

  test('no secret is in the log', async () => {
    const { items } = await harness.client.list(secrets, { namespace });
    const values = items
      .flatMap(({ data = {} }) => Object.values(data))
      .map((value) => Buffer.from(value, 'base64').toString())
      .filter((value) => value.length > 8 && !value.startsWith('ssh-') && !value.startsWith('SHA256:'));
    assert.ok(values.length > 0 && harness.log.length > 0);
    for (const line of harness.log) for (const value of values) assert.ok(!line.includes(value));
  });

  test('the provider stops on request', async () => {
    assert.deepEqual(await provider.stop(), { ok: true });
  });
});
