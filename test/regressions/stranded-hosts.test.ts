import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { machine, type MacHost, macHost, metricNames, serverNames } from '@tartan/api';
import { eventsV1, getCondition, nodes } from '@tartan/kube';
import { eventually } from '@tartan/kube/testing';
import { addMachine, coreKinds, deploymentOf, freePort } from '@tartan/sim-fleet';
import type { SimulatedServer } from '@tartan/sim-scaleway';
import { tartan } from '../../packages/cli/src/program.ts';
import { type Harness, isReady, type Machine, namespace, startHarness } from './harness.ts';

const zone = 'fr-par-1';
/** Like the name in the incident, with the prefix of this cluster. */
const leaked = 'tartan-builders-rg4h9-c295c';
/** Scaleway's name for a Mac that was just ordered. */
const ordered = 'apple-silicon-romantic-hopper';
const reportOnly = '--orphan-reclaim-claim-name-prefix=';
const often = ['--orphan-reclaim-interval=1s', '--inventory-interval=1s'];

const isInPool = ({ name }: SimulatedServer): boolean => name.startsWith(serverNames.defaultPoolPrefix);

describe('tuist/tuist#11056: stranded Macs cost money and were missing from the pool', {
  timeout: 400_000,
}, () => {
  let harness: Harness;
  let live: Machine;
  let metrics: string;
  const lost = new Map<string, SimulatedServer>();
  const named = (name: string): SimulatedServer => {
    const found = lost.get(name);
    assert(found, name);
    return found;
  };
  const strandedFor = (server: SimulatedServer, reason: string) =>
    harness.waitFor(
      macHost.resource,
      server.id,
      `is stranded: ${reason}`,
      ({ status }: MacHost) =>
        status?.state === 'stranded' && getCondition(status.conditions ?? [], 'Stranded')?.reason === reason,
    );
  /** The value of the gauge; undefined from a manager that does not lead. */
  const gauge = async (): Promise<string | undefined> =>
    new RegExp(`^${metricNames.orphanServers} (.*)$`, 'm').exec(await (await fetch(metrics)).text())?.[1];
  const gaugeSays = (count: number) =>
    eventually(`the gauge says ${count}`, async () => (await gauge()) === String(count));
  const orphans = async (): Promise<{ code: number; out: string }> => {
    const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
    const out = text(stdout);
    stderr.resume();
    const env = { KUBECONFIG: harness.controlPlane.kubeconfig };
    const { signal } = new AbortController();
    const code = await tartan(['orphans', '-o', 'json'], { stdin, stdout, stderr, env, signal });
    stdout.end();
    return { code, out: await out };
  };
  const eventReasonsOf = async (server: SimulatedServer): Promise<string[]> =>
    (await harness.client.list(eventsV1)).items
      .filter(({ regarding }) => regarding?.name === server.id)
      .map(({ reason }) => reason ?? '');
  const isUntouched = async (): Promise<void> => {
    assert.equal(harness.serverOf(live).installs, 0);
    assert.equal(harness.serverOf(live).name, live.metadata.name);
    const { metadata, status } = await harness.client.get(machine.resource, { namespace, name: live.metadata.name });
    assert.deepEqual([metadata.uid, status?.ready], [live.metadata.uid, true]);
    assert.ok(isReady(await harness.client.get(nodes, { name: live.metadata.name })));
  };

  before(async () => {
    const port = await freePort();
    metrics = `http://127.0.0.1:${port}/metrics`;
    harness = await startHarness({
      pool: 2,
      fleets: { macos: 1, runners: 0 },
      flags: [...often, reportOnly, `--metrics-bind-address=127.0.0.1:${port}`],
    });
    const [ready] = await harness.readyMachines(1);
    assert(ready);
    live = ready;
  });
  after(() => harness.stop());

  test('a machine deleted without its finalizer leaves a Mac with its name', async () => {
    const name = 'tartan-forced';
    await addMachine(harness.client, name, { fleetName: 'macos' });
    const claimed = await harness.waitFor(machine.resource, name, 'has a Mac', ({ status }) => {
      const server = harness.macs.scaleway.servers().find(({ id }) => id === status?.serverID);
      return server?.name === name;
    });
    lost.set(name, harness.serverOf(claimed));
    // While the manager is stopped, and the finalizer first: otherwise it would see a deletion, and release the Mac after all.
    const [manager] = harness.managerDeployment.running();
    manager?.kill('SIGSTOP');
    const body = { metadata: { finalizers: null } };
    await harness.client.patch(machine.resource, { namespace, name }, { type: 'merge', body });
    await harness.client.delete(machine.resource, { namespace, name });
    await harness.waitUntilGone(machine.resource, name);
    await harness.client.delete(coreKinds.machines, { namespace, name });
    await harness.waitUntilGone(coreKinds.machines, name);
    manager?.kill('SIGCONT');
  });

  test('stranded Macs are counted and reported in the MacHost, an event and `tartan orphans`, and not touched', async () => {
    for (const name of [leaked, ordered]) lost.set(name, await harness.macs.scaleway.order({ zone, name }));
    for (const server of lost.values()) await strandedFor(server, 'ReportOnly');
    await gaugeSays(lost.size);
    const { code, out } = await orphans();
    assert.equal(code, 1);
    assert.deepEqual(
      JSON.parse(out)
        .orphans.map(({ host, verdict }: { host: string; verdict: string }) => `${host} ${verdict}`)
        .toSorted(),
      [...lost.values()].map(({ id }) => `${id} leave`).toSorted(),
    );
    for (const [name, server] of lost) {
      await eventually('it is reported', async () => (await eventReasonsOf(server)).includes('Stranded'));
      assert.deepEqual([server.name, server.installs], [name, 0]);
    }
    await isUntouched();
  });

  test('with active reclaim, stranded Macs of this cluster are wiped and back in the pool, and a newly ordered one is not touched', async () => {
    await harness.upgrade({ version: '0.1.0' }, { flags: ['--orphan-reclaim-claim-name-prefix=tartan-'] });
    for (const name of [leaked, 'tartan-forced']) {
      const server = named(name);
      await harness.hostIn(server.id, 'pool');
      assert.ok(isInPool(server), server.name);
      assert.equal(server.installs, 1);
    }
    await strandedFor(named(ordered), 'NotOurs');
    assert.deepEqual([named(ordered).name, named(ordered).installs], [ordered, 0]);
    await gaugeSays(1);
    await isUntouched();
  });

  test('a renamed Mac of a machine that knows its server is never stranded', async () => {
    const server = harness.serverOf(live);
    server.name = 'tartan-somebody-else';
    await eventually('its name is put right', () => server.name === live.metadata.name);
    await gaugeSays(1);
    await isUntouched();
  });

  test('a Mac with the name of a machine is neither adopted nor wiped; nothing is wiped while reads fail', async () => {
    const name = 'tartan-late';
    const { calls } = harness.macs.scaleway.faults;
    const server = await harness.macs.scaleway.order({ zone, name: ordered });
    const fault = { match: new RegExp(`^GET .*/servers/${server.id}$`), times: 1_000_000, with: { status: 503 } };
    calls.push(fault);
    server.name = name;
    await strandedFor(server, 'Reclaiming');
    await eventually('it was to be wiped, and was not', async () =>
      (await eventReasonsOf(server)).includes('ReclaimAborted'),
    );
    assert.deepEqual([server.name, server.installs], [name, 0]);
    // From now on there is a machine with that name; it has not claimed this Mac.
    await addMachine(harness.client, name, { fleetName: 'macos' });
    calls.splice(calls.indexOf(fault), 1);
    const other = await harness.waitFor(machine.resource, name, 'has a Mac', ({ status }) => !!status?.serverID);
    assert.notEqual(other.status?.serverID, server.id);
    await strandedFor(server, 'NotOurs');
    assert.deepEqual([server.name, server.installs], [name, 0]);
    await isUntouched();
  });

  test('the Mac of a machine without a known pool is released to the pool of the manager', async () => {
    const { id } = harness.serverOf(live);
    const name = { namespace, name: deploymentOf('macos') };
    await harness.client.patch(coreKinds.machineDeployments, name, { type: 'merge', body: { spec: { replicas: 0 } } });
    await harness.waitUntilGone(machine.resource, live.metadata.name);
    await harness.hostIn(id, 'pool');
    assert.equal(harness.serverOf(live).installs, 1);
    assert.ok(isInPool(harness.serverOf(live)));
    // The ordered one, and the one that has the name of a machine.
    await gaugeSays(2);
  });
});
