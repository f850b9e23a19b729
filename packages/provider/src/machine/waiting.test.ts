import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { machine as machineKind, macHost, type MachineSpec } from '@tartan/api';
import type { WorkOutcome } from '../host-work/host-work.ts';
import { doneOutcome } from './testing/fakes.ts';
import { createHarness, type Harness, namespace } from './testing/harness.ts';

const count = 20;
const names = Array.from({ length: count }, (_, index) => `mac-${index + 1}`);

/** Counts passes, and requests without watches and Events, until the returned function is called. */
const startCounting = (harness: Harness) => {
  const requests: string[] = [];
  const from = harness.passes.length;
  harness.interpose((send) => (request) => {
    const isCounted = !request.path.includes('watch=') && !request.path.includes('/events');
    if (isCounted) requests.push(`${request.method} ${request.path}`);
    return send(request);
  });
  return () => {
    harness.interpose((send) => send);
    return { requests, passes: harness.passes.slice(from).map((key) => key.replace(`${namespace}/`, '')) };
  };
};

const addMachines = async (harness: Harness, specOf: (name: string) => Partial<MachineSpec> = () => ({})) => {
  for (const name of names) await harness.addMachine(specOf(name), { name });
};
const holders = async (harness: Harness): Promise<string[]> => {
  const { items } = await harness.client.list(macHost.resource);
  return items.flatMap(({ spec }) => spec.consumerRef?.name ?? []);
};

describe('machines that wait for a Mac', () => {
  test('cost no request while nothing changes', async (t) => {
    const harness = await createHarness(t);
    await harness.start();
    await addMachines(harness);
    await harness.pass(1);
    const counted = startCounting(harness);
    await harness.pass(10);
    const { requests, passes } = counted();
    assert.deepEqual(requests, []);
    assert.ok(passes.length <= 3 * count, `${passes.length} passes of the regular resync`);
  });

  test('are woken one for each Mac that becomes free, in the order in which they came', async (t) => {
    const harness = await createHarness(t);
    await harness.start();
    await addMachines(harness);
    const counted = startCounting(harness);
    for (const server of ['server-1', 'server-2', 'server-3']) await harness.addHost(server);
    const { requests, passes } = counted();
    assert.deepEqual(await holders(harness), names.slice(0, 3));
    assert.deepEqual([...new Set(passes)], names.slice(0, 3));
    assert.ok(requests.every((request) => !request.includes('mac-4')));
  });

  test('are woken by Macs that become free at the same time, one each, and none takes the Mac of another', async (t) => {
    const harness = await createHarness(t);
    for (const name of names) await harness.addHost(`server-of-${name}`);
    await harness.start();
    const counted = startCounting(harness);
    await Promise.all(names.map((name) => harness.addMachine({}, { name })));
    await harness.settle();
    const { requests } = counted();
    assert.deepEqual((await holders(harness)).toSorted(), names.toSorted());
    const holds = requests.filter((request) => request.startsWith('PATCH') && request.includes('/machosts/'));
    assert.equal(holds.length, count, 'each Mac is asked for once');
  });

  test('that lack something else are not woken', async (t) => {
    const harness = await createHarness(t);
    harness.keys.set({ kind: 'unavailable', message: 'It is being made.' }, 'runners');
    await harness.start();
    await addMachines(harness);
    const counted = startCounting(harness);
    for (const server of ['server-1', 'server-2', 'server-3']) await harness.addHost(server);
    assert.deepEqual(counted(), { requests: [], passes: [] });
  });

  test('are woken by a Mac that becomes free before they have recorded that they wait', async (t) => {
    const harness = await createHarness(t);
    await harness.start();
    let added = false;
    harness.interpose((send) => async (request) => {
      if (!added && JSON.stringify(request).includes('waitingForHostSince')) {
        added = true;
        await harness.meanwhile(() => harness.addHost());
        while (harness.macHosts().byIndex('state', 'pool').length === 0) await setImmediate();
      }
      return send(request);
    });
    await harness.addMachine({}, { name: 'mac-1' });
    await harness.settle();
    assert.ok(added);
    assert.deepEqual(await holders(harness), ['mac-1']);
  });

  test('that want another kind of Mac are not woken', async (t) => {
    const harness = await createHarness(t);
    await harness.start();
    await addMachines(harness, (name) => ({ type: name === 'mac-20' ? 'M2-L' : 'M1-M' }));
    const counted = startCounting(harness);
    await harness.addHost();
    assert.deepEqual([...new Set(counted().passes)], ['mac-20']);
    assert.deepEqual(await holders(harness), ['mac-20']);
  });

  test('are woken next if the first one is paused, fails, or is deleted', async (t) => {
    const harness = await createHarness(t);
    await harness.start();
    await addMachines(harness);
    const { client } = harness;
    const first = { namespace, name: 'mac-1' };
    const paused = { metadata: { annotations: { 'cluster.x-k8s.io/paused': '' } } };
    await client.patch(machineKind.resource, first, { type: 'merge', body: paused });
    await client.delete(machineKind.resource, { namespace, name: 'mac-2' });
    await harness.settle();
    // The reads of the third one fail.
    harness.interpose((send) => (request) => {
      if (request.path.endsWith('/mac-3') && request.method === 'GET')
        return Promise.reject(new Error('no connection'));
      return send(request);
    });
    await harness.addHost();
    assert.deepEqual(await holders(harness), ['mac-4']);
    harness.interpose((send) => send);
    await harness.pass(1);
    for (let server = 2; server <= count - 2; server += 1) await harness.addHost(`server-${server}`);
    assert.deepEqual((await holders(harness)).toSorted(), names.slice(2).toSorted(), 'also the one that failed');
  });

  const first = { namespace, name: 'mac-1' };
  const patchFirst = (body: object) => (harness: Harness) =>
    harness.client.patch(machineKind.resource, first, { type: 'merge', body });
  const changes: readonly (readonly [string, (harness: Harness) => Promise<unknown>])[] = [
    ['is deleted', ({ client }) => client.delete(machineKind.resource, first)],
    ['is paused', patchFirst({ metadata: { annotations: { 'cluster.x-k8s.io/paused': '' } } })],
    ['wants a pool that is not allowed', patchFirst({ spec: { adoptPoolPrefix: 'their-pool-' } })],
  ];
  for (const [what, change] of changes)
    test(`pass the Mac on if the one that was woken ${what} before it claims`, async (t) => {
      const harness = await createHarness(t);
      await harness.start();
      for (const name of names.slice(0, 3)) await harness.addMachine({}, { name });
      // Between its wake-up and its live read.
      let changed = false;
      harness.interpose((send) => async (request) => {
        if (!changed && request.method === 'GET' && request.path.endsWith('/mac-1')) {
          changed = true;
          await change(harness);
        }
        return send(request);
      });
      await harness.addHost();
      assert.ok(changed, 'it was woken');
      assert.deepEqual(await holders(harness), ['mac-2']);
    });

  test('are woken in the order in which they began to wait, also by the next manager', async (t) => {
    const harness = await createHarness(t);
    await harness.start();
    for (const name of ['mac-3', 'mac-1', 'mac-2']) {
      await harness.addMachine({}, { name });
      await harness.pass(1);
    }
    await harness.restart();
    await harness.addHost();
    assert.deepEqual(await holders(harness), ['mac-3']);
  });

  test('are woken when a machine that had only reserved the Mac is deleted', async (t) => {
    const harness = await createHarness(t);
    await harness.addHost();
    await harness.start();
    // The claim of the first machine stops half-way, after its reservation.
    harness.interpose(
      (send) => (request) =>
        request.method === 'PATCH' && request.path.includes('/machosts/server-1')
          ? Promise.reject(new Error('no connection'))
          : send(request),
    );
    await harness.addMachine({}, { name: 'mac-1' });
    assert.equal((await harness.status()).serverID, 'server-1');
    await harness.addMachine({}, { name: 'mac-2' });
    harness.interpose((send) => send);
    await harness.client.patch(
      machineKind.resource,
      { namespace, name: 'mac-1' },
      {
        type: 'merge',
        body: { metadata: { finalizers: null } },
      },
    );
    await harness.deleteMachine();
    assert.deepEqual(await holders(harness), ['mac-2']);
  });
});

describe('machines that wait for a push slot', () => {
  test('cost no request while nothing changes, and each slot that becomes free is used at once', async (t) => {
    const harness = await createHarness(t);
    for (const name of names) await harness.addHost(`server-of-${name}`);
    const running: (() => void)[] = [];
    for (let job = 0; job < count; job += 1)
      harness.work.next(async (work, signal): Promise<WorkOutcome> => {
        await new Promise<void>((resolve) => {
          running.push(resolve);
          signal.addEventListener('abort', () => resolve());
        });
        await work.pin('SHA256:first');
        return doneOutcome(work);
      });
    await harness.start();
    await addMachines(harness);
    for (const name of names) await harness.rename(`server-of-${name}`);
    assert.equal(running.length, 2, 'two pushes at a time');
    await harness.pass(1);
    const counted = startCounting(harness);
    await harness.pass(10);
    assert.deepEqual(counted().requests, []);
    // This one is woken in vain.
    const paused = { metadata: { annotations: { 'cluster.x-k8s.io/paused': '' } } };
    await harness.client.patch(machineKind.resource, { namespace, name: 'mac-4' }, { type: 'merge', body: paused });
    await harness.settle();
    for (let job = 0; job < count - 1; job += 1) {
      assert.equal(running.length, Math.min(count - 1, job + 2));
      running[job]?.();
      await harness.settle();
    }
    const { items } = await harness.client.list(machineKind.resource, { namespace });
    assert.equal(items.filter(({ status }) => status?.initialization?.provisioned).length, count - 1);
  });
});
