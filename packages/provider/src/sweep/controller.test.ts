import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { annotations, macHost } from '@tartan/api';
import { KubeError, NotLeadingError } from '@tartan/kube';
import { ScalewayError } from '@tartan/scaleway';
import { heldBy } from '../claim/testing/hosts.ts';
import { createHarness, reclaimingPolicy } from './testing/harness.ts';

const reportOnly = { ...reclaimingPolicy, claimNamePrefix: undefined };
const lost = 'tuist-tuist-lost';

describe('the sweep', () => {
  test('only reports unless name prefixes are configured', async (t) => {
    const harness = await createHarness(t);
    await harness.addStranded('a', lost);
    await harness.addStranded('b', 'tuist-claim-pending-1');
    await harness.fixtures.addHost('c');
    const { stop } = await harness.start(reportOnly);
    await harness.nextRound();
    assert.equal(await harness.releaseOf('a'), undefined);
    assert.equal(await harness.releaseOf('b'), undefined);
    assert.equal(await harness.stranded(), 2);
    assert.equal(await harness.reclaimed(), 0);
    const [event, ...more] = await harness.eventsOf('a');
    assert.deepEqual([event?.reason, event?.type, more.length], ['Stranded', 'Warning', 0]);
    assert.match(event?.message ?? '', /The Mac tuist-tuist-lost is in no pool and no machine knows it/);
    assert.match(event?.message ?? '', /would be wiped and put back into the pool tuist-pool-/);
    assert.match(event?.message ?? '', /--orphan-reclaim-claim-name-prefix/);
    assert.equal(event?.count, 1, 'once for all rounds');
    await stop();
  });

  test('releases stranded Macs with its prefixes in one write, and no others', async (t) => {
    const harness = await createHarness(t);
    const dead = heldBy(lost, 'uid-of-nobody');
    await harness.addStranded('a', lost, {
      spec: { consumerRef: dead, poolPrefix: 'other-' },
      osFamily: 'Golden Gate',
    });
    await harness.addStranded('b', 'apple-silicon-romantic-x');
    await harness.fixtures.addHost('c');
    await harness.fixtures.addHost('d', {}, { state: 'held', name: 'tuist-tuist-d' });
    const { stop } = await harness.start();
    const { spec } = await harness.fixtures.host('a');
    const { message, requestedAt, ...release } = spec.release ?? {};
    assert.deepEqual(release, {
      poolPrefix: 'other-',
      family: 'goldengate',
      reason: 'Stranded',
      serverName: lost,
    });
    assert.match(message ?? '', /no machine knows it/);
    assert.equal(Date.parse(requestedAt ?? ''), harness.clock.now());
    assert.equal(spec.consumerRef, undefined);
    for (const other of ['b', 'c', 'd']) assert.equal(await harness.releaseOf(other), undefined);
    assert.deepEqual(
      (await harness.eventsOf('a')).map(({ reason }) => reason),
      ['Reclaimed'],
    );
    assert.match((await harness.eventsOf('b'))[0]?.message ?? '', /does not begin with tuist-tuist-/);
    assert.equal(await harness.reclaimed(), 1);
    await stop();
  });

  test('leaves an abandoned Mac alone, also one with the state stranded', async (t) => {
    const harness = await createHarness(t);
    await harness.addStranded('a', lost);
    const body = { metadata: { annotations: { 'tuist.dev/abandon': 'ours to look at' } } };
    await harness.client.patch(macHost.resource, { name: 'a' }, { type: 'merge', body });
    const { stop } = await harness.start();
    await harness.nextRound();
    assert.equal(await harness.releaseOf('a'), undefined);
    await stop();
  });

  test('does not release a Mac that is abandoned during the sweep', async (t) => {
    const harness = await createHarness(t);
    await harness.addStranded('a', lost);
    harness.meanwhile(async () => {
      const body = { metadata: { annotations: { 'tuist.dev/abandon': '' } } };
      await harness.client.patch(macHost.resource, { name: 'a' }, { type: 'merge', body });
    });
    const { stop } = await harness.start();
    assert.equal(await harness.releaseOf('a'), undefined);
    await stop();
  });

  test('leaves a Mac alone whose holder may belong to a paused Cluster, also one paused just now', async (t) => {
    const harness = await createHarness(t);
    await harness.addCluster();
    await harness.addStranded('a', lost, { spec: { consumerRef: heldBy(lost, 'uid-of-nobody') } });
    harness.meanwhile(async () => void (await harness.setPaused(true)));
    const { stop } = await harness.start();
    await harness.nextRound();
    assert.equal(await harness.releaseOf('a'), undefined);
    harness.meanwhile(async () => {});
    await harness.setPaused(false);
    await harness.nextRound();
    assert.equal((await harness.releaseOf('a'))?.reason, 'Stranded');
    await stop();
  });

  test('leaves a Mac alone whose MacHost is paused', async (t) => {
    const harness = await createHarness(t);
    await harness.addStranded('a', lost);
    await harness.annotate('a', { [annotations.paused]: '' });
    const { stop } = await harness.start();
    await harness.nextRound();
    assert.equal(await harness.releaseOf('a'), undefined);
    await harness.annotate('a', { [annotations.paused]: null });
    await harness.nextRound();
    assert.equal((await harness.releaseOf('a'))?.reason, 'Stranded');
    await stop();
  });

  test('waits an hour for a claim that is pending', async (t) => {
    const harness = await createHarness(t);
    await harness.addStranded('a', 'tuist-claim-pending-1', { since: '2026-06-01T00:00:00Z' });
    const { stop } = await harness.start();
    for (let round = 0; round < 3; round += 1) await harness.nextRound();
    assert.equal(await harness.releaseOf('a'), undefined);
    assert.equal(await harness.stranded(), 1, 'it counts from the beginning');
    await harness.nextRound();
    assert.equal((await harness.releaseOf('a'))?.poolPrefix, 'tuist-pool-');
    await stop();
  });

  test('the gauge counts stranded Macs, also between two sweeps, and has no value before the first or after a stop', async (t) => {
    const harness = await createHarness(t);
    await harness.addStranded('a', 'somebody-else');
    assert.equal(await harness.stranded(), undefined);
    const { stop } = await harness.start(reportOnly);
    assert.equal(await harness.stranded(), 1);
    await harness.addStranded('b', 'somebody-else-2');
    await harness.settle();
    assert.equal(await harness.stranded(), 2);
    // A zone that cannot be listed leaves its MacHosts as they are.
    await harness.fixtures.touchHost('b');
    await harness.nextRound();
    assert.equal(await harness.stranded(), 2);
    await harness.fixtures.touchHost('b', { state: 'pool' });
    await harness.settle();
    assert.equal(await harness.stranded(), 1);
    await harness.fixtures.removeHost('a');
    await harness.settle();
    assert.equal(await harness.stranded(), 0);
    await stop();
    assert.equal(await harness.stranded(), undefined);
  });

  test('emits a new event when the verdict changes', async (t) => {
    const harness = await createHarness(t);
    await harness.addStranded('a', 'somebody-else');
    const { stop } = await harness.start();
    await harness.nextRound();
    await harness.fixtures.touchHost('a', { name: 'somebody-new' });
    await harness.nextRound();
    const messages = (await harness.eventsOf('a')).map(({ message }) => message ?? '');
    assert.equal(messages.length, 2);
    assert.ok(messages.some((message) => message.includes('somebody-new')));
    await stop();
  });
});

describe('right before the release, the sweep', () => {
  const skips = async (
    t: Parameters<typeof createHarness>[0],
    prepare: (harness: Awaited<ReturnType<typeof createHarness>>) => Promise<unknown>,
  ) => {
    const harness = await createHarness(t);
    await prepare(harness);
    await harness.addStranded('z', 'tuist-tuist-z');
    const { stop } = await harness.start();
    await harness.nextRound();
    assert.equal(await harness.releaseOf('a').catch(() => undefined), undefined);
    assert.ok(await harness.releaseOf('z'), 'the others are not held up by it');
    assert.equal(await harness.reclaimed(), 1);
    const events = await harness.eventsOf('a');
    assert.deepEqual(
      events.filter(({ reason }) => reason !== 'Stranded'),
      [],
    );
    await stop();
  };

  test('skips a Mac whose name belongs to a machine', (t) =>
    skips(t, async (harness) => {
      await harness.addStranded('a', lost);
      await harness.addMachine(lost);
    }));

  test('skips a Mac that a machine has reserved', (t) =>
    skips(t, async (harness) => {
      await harness.addStranded('a', lost);
      await harness.addMachine('tuist-tuist-other', { serverID: 'a' });
    }));

  test('skips a Mac that a machine is bound to', (t) =>
    skips(t, async (harness) => {
      await harness.addStranded('a', lost);
      await harness.addMachine('tuist-tuist-other', {}, { providerID: 'scw-applesilicon://fr-par-1/a' });
    }));

  test('skips a Mac whose holder exists, whatever its MacHost says', (t) =>
    skips(t, async (harness) => {
      const { metadata } = await harness.addMachine('tuist-tuist-m', { serverID: 'elsewhere' });
      await harness.addStranded('a', lost, { spec: { consumerRef: heldBy('tuist-tuist-m', metadata.uid) } });
    }));

  test('skips a Mac that was adopted between the list and the live read', (t) =>
    skips(t, async (harness) => {
      await harness.addStranded('a', lost);
      harness.meanwhile(async () => {
        harness.meanwhile(async () => {});
        await harness.addMachine('tuist-tuist-new', { serverID: 'a' });
      });
    }));

  test('skips a Mac that is taken between the last read and the write', (t) =>
    skips(t, async (harness) => {
      await harness.addStranded('a', lost);
      harness.interpose((send) => async (request) => {
        if (request.method === 'PATCH' && request.path.includes('/machosts/a')) {
          harness.interpose((passOn) => passOn);
          const { metadata } = await harness.addMachine('tuist-tuist-new', { serverID: 'a' });
          await harness.fixtures.changeHost('a', { consumerRef: heldBy('tuist-tuist-new', metadata.uid) });
        }
        return send(request);
      });
    }));

  test('skips a Mac that has another name at Scaleway by now', (t) =>
    skips(t, async (harness) => {
      await harness.addStranded('a', lost);
      harness.names.set('a', 'a-person-took-this');
    }));

  test('skips a Mac that Scaleway does not know any more', (t) =>
    skips(t, async (harness) => {
      await harness.addStranded('a', lost);
      harness.gone.add('a');
    }));

  test('skips a Mac that is not stranded any more, although the cache says so', (t) =>
    skips(t, async (harness) => {
      await harness.addStranded('a', lost);
      harness.interpose((send) => async (request) => {
        if (request.method === 'GET' && /\/machosts\/a\b/.test(request.path)) {
          harness.interpose((passOn) => passOn);
          await harness.fixtures.touchHost('a', { state: 'held' });
        }
        return send(request);
      });
    }));

  test('releases a Mac whose holder is certainly not in this cluster', async (t) => {
    const harness = await createHarness(t);
    const providerID = 'scw-applesilicon://fr-par-1/b';
    const { metadata } = await harness.addMachine(lost, { serverID: 'b' }, { providerID });
    await harness.addStranded('a', lost, { spec: { consumerRef: heldBy(lost, metadata.uid) } });
    const { stop } = await harness.start();
    assert.ok(await harness.releaseOf('a'));
    await stop();
  });

  test('aborts for all Macs when a read fails, with an event, and resumes when reads work', async (t) => {
    for (const [title, about] of [
      ['machines', /\/scalewayapplesiliconmachines/],
      ['the MacHost', /\/machosts\/a\b/],
    ] as const) {
      const harness = await createHarness(t);
      await harness.addStranded('a', lost);
      await harness.addStranded('b', 'tuist-tuist-b');
      let away = true;
      harness.interpose((send) => (request) => {
        const isLook = request.method === 'GET' && about.test(request.path) && !request.path.includes('watch=');
        return away && isLook
          ? Promise.reject(new KubeError('unreachable', `${title} cannot be read.`))
          : send(request);
      });
      const { stop } = await harness.start();
      await harness.settle();
      for (const name of ['a', 'b']) assert.equal(await harness.releaseOf(name), undefined);
      const [event] = await harness.eventsOf('a');
      assert.deepEqual([event?.reason, event?.type], ['ReclaimAborted', 'Warning']);
      assert.match(event?.message ?? '', /cannot be read.*Nothing was done/);
      away = false;
      await harness.nextRound();
      for (const name of ['a', 'b']) assert.ok(await harness.releaseOf(name));
      await stop();
    }
  });

  test('stops when the kind of machines is not served: that does not mean that there are none', async (t) => {
    const harness = await createHarness(t);
    await harness.addStranded('a', lost);
    harness.interpose(
      (send) => (request) =>
        request.path.includes('/scalewayapplesiliconmachines')
          ? Promise.reject(new KubeError('notFound', 'no'))
          : send(request),
    );
    const { stop } = await harness.start();
    await harness.nextRound();
    assert.equal(await harness.releaseOf('a'), undefined);
    assert.equal((await harness.eventsOf('a'))[0]?.reason, 'ReclaimAborted');
    await stop();
  });

  test('stops when Scaleway does not answer', async (t) => {
    const harness = await createHarness(t);
    await harness.addStranded('a', lost);
    harness.meanwhile(() => Promise.reject(new ScalewayError('Scaleway did not answer.', { kind: 'no answer' })));
    const { stop } = await harness.start();
    assert.equal(await harness.releaseOf('a'), undefined);
    assert.equal((await harness.eventsOf('a'))[0]?.reason, 'ReclaimAborted');
    await stop();
  });

  test('stops when it does not lead any more', async (t) => {
    const harness = await createHarness(t);
    await harness.addStranded('a', lost);
    harness.closeGate(new NotLeadingError('lease', 'it was not renewed'));
    const { stop } = await harness.start();
    await harness.nextRound();
    assert.equal(await harness.releaseOf('a'), undefined);
    assert.deepEqual(await harness.eventsOf('a'), []);
    await stop();
  });
});
