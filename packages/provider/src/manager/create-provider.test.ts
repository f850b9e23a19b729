import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  externalControlPlane,
  formatProviderID,
  leaderElectionID,
  machine,
  macHost,
  metricNames,
  remoteServiceAccount,
  secretNames,
} from '@tartan/api';
import {
  type Client,
  getCondition,
  ignoreNotFound,
  leases,
  nodes,
  secrets,
  serviceAccounts,
  type Transport,
} from '@tartan/kube';
import type { ManualClock } from '@tartan/kube/clock';
import { ScalewayError } from '@tartan/scaleway';
import { coreClusters } from '../core/kinds.ts';
import { clusterMember } from '../core/testing/cluster-member.ts';
import { fakeHostWork } from '../machine/testing/fakes.ts';
import type { ProviderDeps } from './create-provider.ts';
import { createHarness, namespace, optionsWith, quietPool } from './testing/harness.ts';
import { oneMac } from './testing/one-mac.ts';

/** Requests that wait until the process thaws, and timers that do not fire: what SIGSTOP does to a process. */
const freezableProcess = (realClock: ManualClock, inner: Transport) => {
  let thawed: PromiseWithResolvers<void> | undefined;
  const late: (() => void)[] = [];
  const clock: ProviderDeps['clock'] = {
    now: () => realClock.now(),
    monotonic: () => realClock.monotonic(),
    after: (milliseconds, run) => {
      let over = false;
      const once = (): void => {
        if (!over) run();
        over = true;
      };
      const takeBack = realClock.after(milliseconds, () => (thawed ? void late.push(once) : once()));
      return () => {
        over = true;
        takeBack();
      };
    },
  };
  const transport: Transport = {
    ...inner,
    send: async (request) => {
      await thawed?.promise;
      return inner.send(request);
    },
  };
  return {
    clock,
    transport,
    freeze: () => {
      thawed = Promise.withResolvers();
    },
    thaw: () => {
      thawed?.resolve();
      thawed = undefined;
      for (const run of late.splice(0)) run();
    },
  };
};

interface LifecycleDeps {
  readonly client: Client;
  readonly serverID: string;
  /** Where core finds the API server. Without it: by the Service, which not every server has. */
  readonly server?: string;
  /** Retries until the result is not undefined. */
  readonly eventually: <T>(look: () => Promise<T | undefined>) => Promise<T>;
}

/** Core's Cluster with its control plane, and one machine from its claim to its deletion: every controller acts at least once. */
const runMachineLifecycle = async ({ client, serverID, server, eventually }: LifecycleDeps): Promise<void> => {
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

describe('one manager', () => {
  test('starts, leads, becomes ready, and releases its lease at the stop', async (t) => {
    const { client, start, installCore, pass, refused } = await createHarness(t);
    await installCore();
    const manager = start('a');
    await pass(3_000);
    assert.deepEqual(refused, [], 'its rights are enough');
    assert.deepEqual(await manager.ask('/readyz'), { code: 200, body: 'ok' });
    assert.equal((await manager.ask('/healthz')).code, 200);
    assert.ok(manager.leads());
    const lease = () => client.get(leases, { namespace, name: leaderElectionID });
    assert.equal((await lease()).spec?.holderIdentity, 'a');
    assert.deepEqual(await manager.stop(), { ok: true });
    assert.equal((await lease()).spec?.holderIdentity ?? '', '');
    assert.ok(!manager.leads());
  });

  test('runs the whole lifecycle of a machine within its RBAC rights (INC-16)', async (t) => {
    const { client, start, installCore, pass, refused } = await createHarness(t);
    await installCore();
    const serverID = '6f1c0a52-0d7e-4a2b-8f43-3c2d1b0a9e87';
    const mac = oneMac(serverID);
    const manager = start('a', { pool: mac.pool, hostWork: fakeHostWork() });
    await pass(3_000);
    const eventually = async <T>(look: () => Promise<T | undefined>): Promise<T> => {
      for (let second = 0; second < 600; second += 1) {
        const found = await look();
        if (found !== undefined) return found;
        await pass(1_000, 1_000);
      }
      assert.fail(manager.lines.slice(-20).join(''));
    };
    await runMachineLifecycle({ client, serverID, eventually, server: 'https://192.0.2.1:6443' });
    assert.deepEqual(refused, []);
    assert.equal(mac.calls[0], 'rename mac-1');
    assert.match(mac.calls.join(), /^rename mac-1,rename tuist-releasing-[^,]*,reinstall,rename tuist-pool-[^,]*$/);
  });

  test('trusts a list of servers for three times the --inventory-interval', async (t) => {
    const { client, start, installCore, pass } = await createHarness(t);
    await installCore();
    const serverID = '6f1c0a52-0d7e-4a2b-8f43-3c2d1b0a9e87';
    const { pool } = oneMac(serverID);
    let failures = 0;
    let isOut = false;
    start('a', {
      options: optionsWith('--leader-elect=false', '--inventory-interval=6m'),
      pool: {
        ...pool,
        listServers: async (...call) => {
          if (!isOut) return pool.listServers(...call);
          failures += 1;
          throw new ScalewayError('Scaleway is out.', { kind: 'unavailable' });
        },
      },
    });
    const listed = async () =>
      getCondition((await client.get(macHost.resource, { name: serverID })).status?.conditions, 'Listed')?.status;
    await pass(60_000, 5_000);
    assert.equal(await listed(), 'True');
    isOut = true;
    await pass(7 * 60_000, 30_000);
    assert.ok(failures > 0);
    assert.equal(await listed(), 'True');
    await pass(15 * 60_000, 30_000);
    assert.equal(await listed(), 'Unknown');
  });

  test('needs no lease without leader election', async (t) => {
    const { start, installCore, pass, client } = await createHarness(t);
    await installCore();
    const manager = start('a', { options: optionsWith('--leader-elect=false') });
    await pass(1_000);
    assert.equal((await manager.ask('/readyz')).code, 200);
    assert.ok(manager.leads());
    assert.deepEqual((await client.list(leases, { namespace })).items, []);
    assert.deepEqual(await manager.stop(), { ok: true });
  });

  test('serves all its metrics', async (t) => {
    const { client, start, installCore, pass } = await createHarness(t);
    await installCore();
    await client.create(machine.resource, {
      apiVersion: 'infrastructure.cluster.x-k8s.io/v1alpha1',
      kind: 'ScalewayAppleSiliconMachine',
      metadata: { name: 'mac-1', namespace, labels: { 'cluster.x-k8s.io/cluster-name': 'macs' } },
      spec: machine.spec.parse({ fleetName: 'runners' }),
    });
    const manager = start('a');
    await pass(3_000);
    const { body } = await manager.ask('/metrics');
    for (const name of Object.values(metricNames)) assert.match(body, new RegExp(`^# TYPE ${name} `, 'm'), name);
    assert.match(
      body,
      new RegExp(`^${metricNames.machinePhase}\\{namespace="${namespace}",machine="mac-1",fleet="runners"`, 'm'),
    );
    assert.match(body, /^leader_election_master_status\{name="scaleway-applesilicon\..*"\} 1$/m);
    assert.match(body, /^rest_client_requests_total\{code="200",method="GET",host="in-process"\} \d+$/m);
  });

  test('works with probes and metrics turned off', async (t) => {
    const { start, installCore, pass } = await createHarness(t);
    await installCore();
    const options = optionsWith('--metrics-bind-address=0', '--health-probe-bind-address=0');
    const manager = start('a', { options });
    await pass(3_000);
    assert.deepEqual(manager.provider.addresses, { probes: undefined, metrics: undefined });
    assert.ok(manager.leads());
    assert.deepEqual(await manager.stop(), { ok: true });
  });

  test('reports an address on which it cannot listen', async (t) => {
    const { start, installCore, pass } = await createHarness(t);
    await installCore();
    const first = start('a');
    const { port } = (await first.provider.addresses.probes) ?? { port: 0 };
    const second = start('b', { options: optionsWith(`--health-probe-bind-address=127.0.0.1:${port}`) });
    await pass(3_000);
    const result = await second.ended;
    assert.ok(!result.ok && /cannot listen on 127\.0\.0\.1/.test(result.reason), JSON.stringify(result));
  });
});

describe('missing dependencies', () => {
  test('Cluster API core is waited for, and readyz says how to install it', async (t) => {
    const { start, installCore, pass } = await createHarness(t, ['v1beta1']);
    const manager = start('a');
    await pass(7_000);
    const { code, body } = await manager.ask('/readyz');
    assert.equal(code, 500);
    assert.match(body, /\[-\]cluster-api failed: Cluster API core is not installed/);
    assert.equal((await manager.ask('/healthz')).code, 200, 'a restart would not help');
    await installCore();
    await pass(8_000);
    assert.equal((await manager.ask('/readyz')).code, 200);
    assert.ok(manager.lines.some((line) => line.includes('"version":"v1beta1"')));
  });

  test('the manager ends with advice when Cluster API core never comes', async (t) => {
    const { start, pass } = await createHarness(t);
    const manager = start('a', { intervals: { syncDeadlineMs: 20_000 } });
    await pass(21_000);
    const result = await manager.ended;
    assert.ok(!result.ok && /Install Cluster API core/.test(result.reason), JSON.stringify(result));
  });

  test('a missing permission at Scaleway is named and checked again, and does not end the manager', async (t) => {
    const { start, installCore, pass } = await createHarness(t);
    await installCore();
    let granted = false;
    const denied = new ScalewayError('The key lacks SSHKeysFullAccess.', { kind: 'denied' });
    const pool = { ...quietPool(), listKeys: async () => (granted ? [] : Promise.reject(denied)) };
    const manager = start('a', { pool });
    await pass(3_000);
    const { code, body } = await manager.ask('/readyz');
    assert.equal(code, 500);
    assert.match(body, /\[-\]scaleway failed: The key lacks SSHKeysFullAccess\./);
    assert.ok(manager.leads(), 'Macs that run need no right at Scaleway');
    granted = true;
    await pass(60_000);
    assert.equal((await manager.ask('/readyz')).code, 200);
  });
});

describe('two managers', () => {
  test('one leads; when it stops the other leads at once', async (t) => {
    const { start, installCore, pass } = await createHarness(t);
    await installCore();
    const first = start('a');
    await pass(3_000);
    const second = start('b');
    await pass(5_000);
    assert.deepEqual([first.leads(), second.leads()], [true, false]);
    assert.equal((await second.ask('/readyz')).code, 200, 'whoever stands by is ready');
    assert.deepEqual(await first.stop(), { ok: true });
    await pass(2_000);
    assert.ok(second.leads());
  });

  test('a standby serves no metrics of machines, so that sums stay correct', async (t) => {
    const { client, start, installCore, pass } = await createHarness(t);
    await installCore();
    await client.create(macHost.resource, {
      apiVersion: 'infrastructure.cluster.x-k8s.io/v1alpha1',
      kind: 'MacHost',
      metadata: { name: '6f1c0a52-0d7e-4a2b-8f43-3c2d1b0a9e87' },
      spec: macHost.spec.parse({ zone: 'fr-par-1' }),
    });
    const first = start('a');
    await pass(3_000);
    const second = start('b');
    await pass(3_000);
    const series = new RegExp(`^${metricNames.macHosts}\\{`, 'm');
    assert.match((await first.ask('/metrics')).body, series);
    assert.doesNotMatch((await second.ask('/metrics')).body, series);
  });

  test('a frozen leader is replaced within its lease, and its gate stays closed when it thaws', async (t) => {
    const { clock, transport, start, installCore, pass } = await createHarness(t);
    await installCore();
    const ice = freezableProcess(clock, transport);
    const first = start('a', { clock: ice.clock, transport: ice.transport });
    await pass(3_000);
    const second = start('b');
    await pass(3_000);
    assert.deepEqual([first.leads(), second.leads()], [true, false]);
    ice.freeze();
    await pass(18_000);
    assert.ok(second.leads());
    assert.throws(() => first.provider.gate.pass(), /this process does not lead/);
    ice.thaw();
    assert.throws(() => first.provider.gate.pass(), /this process does not lead/);
    await pass(10_000);
    const result = await first.ended;
    assert.ok(!result.ok && /leadership was lost/.test(result.reason), JSON.stringify(result));
    assert.ok(second.leads());
  });

  test('a manager that has not noticed yet that another one leads starts no work on a Mac', async (t) => {
    const { clock, client, transport, start, installCore, pass } = await createHarness(t);
    await installCore();
    const mac = oneMac('6f1c0a52-0d7e-4a2b-8f43-3c2d1b0a9e87');
    // Requests and watches of the first go on. Only its timers do not fire, so it neither renews its lease nor gives up.
    const ice = freezableProcess(clock, transport);
    const [firstWork, secondWork] = [fakeHostWork(), fakeHostWork()];
    const first = start('a', { clock: ice.clock, pool: mac.pool, hostWork: firstWork });
    await pass(3_000);
    const second = start('b', { pool: mac.pool, hostWork: secondWork });
    await pass(3_000);
    ice.freeze();
    await pass(18_000);
    assert.deepEqual([first.leads(), second.leads()], [false, true]);
    const at = { namespace, name: 'mac-1' };
    const metadata = { ...at, ...(await clusterMember(client, at)) };
    await client.create(machine.resource, machine.make({ metadata, spec: { fleetName: 'runners' } }));
    await pass(60_000);
    assert.deepEqual([firstWork.jobs.length, secondWork.jobs.length], [0, 1]);
    ice.thaw();
  });

  test('a leader that reads another holder in the Lease stops leading at once', async (t) => {
    const { client, start, installCore, pass } = await createHarness(t);
    await installCore();
    const manager = start('a');
    await pass(3_000);
    assert.ok(manager.leads());
    const lease = await client.get(leases, { namespace, name: leaderElectionID });
    await client.update(leases, { ...lease, spec: { ...lease.spec, holderIdentity: 'b' } });
    await pass(2_500);
    assert.ok(!manager.leads());
    const result = await manager.ended;
    assert.ok(!result.ok && /leadership was lost/.test(result.reason), JSON.stringify(result));
  });

  test('when the leader loses the API server, its gate closes before the other leads', async (t) => {
    const { transport, start, installCore, pass } = await createHarness(t);
    await installCore();
    let cut = false;
    const flaky = {
      ...transport,
      send: (request: Parameters<typeof transport.send>[0]) =>
        cut ? Promise.reject(new Error('no route')) : transport.send(request),
    };
    const first = start('a', { transport: flaky });
    await pass(3_000);
    const second = start('b');
    await pass(3_000);
    cut = true;
    for (let seconds = 0; seconds < 20; seconds += 1) {
      await pass(1_000);
      assert.ok(!(first.leads() && second.leads()));
    }
    assert.deepEqual([first.leads(), second.leads()], [false, true]);
  });
});
