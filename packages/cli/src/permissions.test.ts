import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { macFleet, machine, macHost } from '@tartan/api';
import { nodes } from '@tartan/kube';
import { readClusterState } from './cluster/state.ts';
import { explain } from './explain/explain.ts';
import { showView } from './output/view.ts';
import { setPaused } from './roll/pause.ts';
import { startCluster } from './testing/cluster.ts';
import { aFleet, aHost, aMachine, aNode } from './testing/objects.ts';
import { fleetView } from './views/fleet.ts';

const { signal } = new AbortController();
const managerFlags = { defaultPoolPrefix: undefined, claimNamePrefix: undefined };

describe('a user without all RBAC permissions', () => {
  const start = async (t: { after(fn: () => void): void }, isAllowed: Parameters<typeof startCluster>[0]) => {
    const cluster = await startCluster(isAllowed);
    t.after(() => cluster.stop());
    await cluster.add(machine.resource, aMachine('mac-1'));
    await cluster.add(macHost.resource, aHost('h-1'));
    await cluster.add(macFleet.resource, aFleet('macos'));
    await cluster.add(nodes, aNode('mac-1'));
    return cluster;
  };

  test('without list on machines or machosts the command fails and names the missing permission', async (t) => {
    const { connection } = await start(t, { isAllowed: ({ resource }) => resource !== 'machosts' });
    await assert.rejects(
      readClusterState(connection, {}, signal),
      /You may not list machosts\. The missing permission is "list" on machosts\.infrastructure\.cluster\.x-k8s\.io \(kubectl auth can-i list machosts\.infrastructure\.cluster\.x-k8s\.io\)\.$/,
    );
  });

  test('a user with permissions in one namespace can select it', async (t) => {
    const { connection } = await start(t, {
      isAllowed: ({ resource, namespace }) => resource !== 'scalewayapplesiliconmachines' || namespace === 'default',
    });
    await assert.rejects(
      readClusterState(connection, {}, signal),
      /-A\)\. Name a namespace that you may read with --namespace\.$/,
    );
    assert.equal((await readClusterState(connection, { namespace: 'default' }, signal)).machines.length, 1);
    const explained = await explain(connection, { name: 'mac-1', namespace: 'default', managerFlags }, signal);
    assert.match(explained.notes.join(), /You may not read machines outside the namespace default/);
  });

  test('without permissions on Pods, Nodes, fleets or events the view is partial and has a note', async (t) => {
    const { connection } = await start(t, {
      isAllowed: ({ resource }) => !['pods', 'nodes', 'macfleets', 'events', 'clusters'].includes(resource),
    });
    const state = await readClusterState(connection, {}, signal);
    assert.equal(state.pods, undefined);
    assert.deepEqual([...state.unreadable], ['fleets', 'nodes']);
    assert.equal(state.notes.length, 3);
    const explained = await explain(connection, { name: 'mac-1', managerFlags }, signal);
    assert.equal(explained.subject.kind, 'machine');
  });

  test('without patch permission nothing is written and the error says so', async (t) => {
    const { connection, admin } = await start(t, { isAllowed: ({ verb }) => verb !== 'patch' });
    await assert.rejects(
      setPaused(connection, { name: 'macos', paused: true }, {}),
      /You may not patch macfleets in the namespace default\. The missing permission is "patch" on macfleets\.infrastructure/,
    );
    assert.equal((await admin.get(macFleet.resource, { namespace: 'default', name: 'macos' })).spec.paused, false);
  });

  test('kinds that cannot be listed are not watched', { timeout: 60_000 }, async (t) => {
    const { connection } = await start(t, { isAllowed: ({ resource }) => resource !== 'pods' && resource !== 'nodes' });
    const stop = new AbortController();
    const stdout = new PassThrough();
    const said = text(stdout);
    stdout.once('data', () => stop.abort());
    assert.equal(
      await showView(
        fleetView,
        { output: 'table', watch: true },
        connection,
        { stdout, style: { colours: false } },
        stop.signal,
      ),
      0,
    );
    stdout.end();
    assert.match(await said, /mac-1 +macos[^]*You may not list nodes/);
  });
});

describe('roll pause with concurrent writes', () => {
  const patching = async (
    t: { after(fn: () => void): void },
    interfere: (write: number, cluster: Awaited<ReturnType<typeof startCluster>>) => Promise<void>,
  ) => {
    const cluster = await startCluster();
    t.after(() => cluster.stop());
    await cluster.add(macFleet.resource, aFleet('macos'));
    let writes = 0;
    const client: typeof cluster.connection.client = {
      ...cluster.connection.client,
      patch: async (...args) => {
        writes += 1;
        await interfere(writes, cluster);
        return cluster.connection.client.patch(...args);
      },
    };
    const paused = setPaused({ ...cluster.connection, client }, { name: undefined, paused: true }, {});
    const outcome = await paused.catch((error: unknown) => error);
    const [fleet] = (await cluster.admin.list(macFleet.resource)).items;
    return { outcome, writes, fleet };
  };
  const touch = async ({ admin }: Awaited<ReturnType<typeof startCluster>>, body: object): Promise<void> => {
    await admin.patch(macFleet.resource, { namespace: 'default', name: 'macos' }, { type: 'merge', body });
  };

  test('a conflict is retried on the new version and keeps the other change', async (t) => {
    const { outcome, fleet } = await patching(t, async (write, cluster) => {
      if (write === 1) await touch(cluster, { spec: { maxUnavailable: 7 } });
    });
    assert.deepEqual(outcome, {
      schema: 'tartan.roll-pause/v1',
      namespace: 'default',
      fleet: 'macos',
      paused: true,
      changed: true,
    });
    assert.deepEqual([fleet?.spec.paused, fleet?.spec.maxUnavailable], [true, 7]);
  });

  test('after repeated conflicts the command gives up with an error', async (t) => {
    const { outcome, writes } = await patching(t, (write, cluster) =>
      touch(cluster, { spec: { maxUnavailable: write + 1 } }),
    );
    assert.match(String(outcome), /NotDoneError: The MacFleet macos was changed 5 times meanwhile/);
    assert.equal(writes, 5);
  });

  test('a fleet that was replaced under the same name is not patched', async (t) => {
    const { outcome, fleet } = await patching(t, async (write, cluster) => {
      if (write > 1) return;
      await cluster.admin.delete(macFleet.resource, { namespace: 'default', name: 'macos' });
      await cluster.add(macFleet.resource, aFleet('macos'));
    });
    assert.match(String(outcome), /NotDoneError: The MacFleet macos was replaced meanwhile/);
    assert.equal(fleet?.spec.paused, false);
  });

  test('with several fleets the name is required', async (t) => {
    const cluster = await startCluster();
    t.after(() => cluster.stop());
    await cluster.add(macFleet.resource, aFleet('a'));
    await cluster.add(macFleet.resource, aFleet('b'));
    await assert.rejects(setPaused(cluster.connection, { name: undefined, paused: true }, {}), {
      name: 'NotDoneError',
      message: 'There is more than one MacFleet: give its name. There are: default/a, default/b.',
    });
  });
});

test('lists with several pages are read to the end, one list per kind', async (t) => {
  const cluster = await startCluster();
  t.after(() => cluster.stop());
  const hosts = Array.from({ length: 501 }, (_, at) =>
    macHost.make({ metadata: { name: `h-${at}` }, spec: { zone: 'fr-par-1' } }),
  );
  await Promise.all(hosts.map((host) => cluster.admin.create(macHost.resource, host)));
  const state = await readClusterState(cluster.connection, {}, signal);
  assert.equal(state.hosts.length, 501);
});
