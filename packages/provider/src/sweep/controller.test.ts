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
  test('only reports unless it was told which names are its own', async (t) => {
    const stage = await createHarness(t);
    await stage.addStranded('a', lost);
    await stage.addStranded('b', 'tuist-claim-pending-1');
    await stage.people.addHost('c');
    const { stop } = await stage.start(reportOnly);
    await stage.nextRound();
    assert.equal(await stage.releaseOf('a'), undefined);
    assert.equal(await stage.releaseOf('b'), undefined);
    assert.equal(await stage.stranded(), 2);
    assert.equal(await stage.reclaimed(), 0);
    const [event, ...more] = await stage.eventsOf('a');
    assert.deepEqual([event?.reason, event?.type, more.length], ['Stranded', 'Warning', 0]);
    assert.match(event?.message ?? '', /The Mac tuist-tuist-lost is in no pool and no machine knows it/);
    assert.match(event?.message ?? '', /would be wiped and put back into the pool tuist-pool-/);
    assert.match(event?.message ?? '', /--orphan-reclaim-claim-name-prefix/);
    assert.equal(event?.count, 1, 'once for all rounds');
    await stop();
  });

  test('releases stranded Macs of its own, in one write, and no others', async (t) => {
    const stage = await createHarness(t);
    const dead = heldBy(lost, 'uid-of-nobody');
    await stage.addStranded('a', lost, { spec: { consumerRef: dead, poolPrefix: 'other-' }, osFamily: 'Golden Gate' });
    await stage.addStranded('b', 'apple-silicon-romantic-x');
    await stage.people.addHost('c');
    await stage.people.addHost('d', {}, { state: 'held', name: 'tuist-tuist-d' });
    const { stop } = await stage.start();
    const { spec } = await stage.people.host('a');
    const { message, requestedAt, ...release } = spec.release ?? {};
    assert.deepEqual(release, {
      poolPrefix: 'other-',
      family: 'goldengate',
      reason: 'Stranded',
      serverName: lost,
    });
    assert.match(message ?? '', /no machine knows it/);
    assert.equal(Date.parse(requestedAt ?? ''), stage.clock.now());
    assert.equal(spec.consumerRef, undefined);
    for (const other of ['b', 'c', 'd']) assert.equal(await stage.releaseOf(other), undefined);
    assert.deepEqual(
      (await stage.eventsOf('a')).map(({ reason }) => reason),
      ['Reclaimed'],
    );
    assert.match((await stage.eventsOf('b'))[0]?.message ?? '', /does not begin with tuist-tuist-/);
    assert.equal(await stage.reclaimed(), 1);
    await stop();
  });

  test('leaves a Mac alone that a person has abandoned, also one that is still called stranded', async (t) => {
    const stage = await createHarness(t);
    await stage.addStranded('a', lost);
    const body = { metadata: { annotations: { 'tuist.dev/abandon': 'ours to look at' } } };
    await stage.client.patch(macHost.resource, { name: 'a' }, { type: 'merge', body });
    const { stop } = await stage.start();
    await stage.nextRound();
    assert.equal(await stage.releaseOf('a'), undefined);
    await stop();
  });

  test('does not release a Mac that is abandoned while the sweep looks at it', async (t) => {
    const stage = await createHarness(t);
    await stage.addStranded('a', lost);
    stage.meanwhile(async () => {
      const body = { metadata: { annotations: { 'tuist.dev/abandon': '' } } };
      await stage.client.patch(macHost.resource, { name: 'a' }, { type: 'merge', body });
    });
    const { stop } = await stage.start();
    assert.equal(await stage.releaseOf('a'), undefined);
    await stop();
  });

  test('leaves a Mac alone whose holder may be of a Cluster that is paused, also one that was paused this moment', async (t) => {
    const stage = await createHarness(t);
    await stage.addCluster();
    await stage.addStranded('a', lost, { spec: { consumerRef: heldBy(lost, 'uid-of-nobody') } });
    stage.meanwhile(async () => void (await stage.setPaused(true)));
    const { stop } = await stage.start();
    await stage.nextRound();
    assert.equal(await stage.releaseOf('a'), undefined);
    stage.meanwhile(async () => {});
    await stage.setPaused(false);
    await stage.nextRound();
    assert.equal((await stage.releaseOf('a'))?.reason, 'Stranded');
    await stop();
  });

  test('leaves a Mac alone whose MacHost is paused', async (t) => {
    const stage = await createHarness(t);
    await stage.addStranded('a', lost);
    await stage.annotate('a', { [annotations.paused]: '' });
    const { stop } = await stage.start();
    await stage.nextRound();
    assert.equal(await stage.releaseOf('a'), undefined);
    await stage.annotate('a', { [annotations.paused]: null });
    await stage.nextRound();
    assert.equal((await stage.releaseOf('a'))?.reason, 'Stranded');
    await stop();
  });

  test('waits an hour for a claim that is pending', async (t) => {
    const stage = await createHarness(t);
    await stage.addStranded('a', 'tuist-claim-pending-1', { since: '2026-06-01T00:00:00Z' });
    const { stop } = await stage.start();
    for (let round = 0; round < 3; round += 1) await stage.nextRound();
    assert.equal(await stage.releaseOf('a'), undefined);
    assert.equal(await stage.stranded(), 1, 'it counts from the beginning');
    await stage.nextRound();
    assert.equal((await stage.releaseOf('a'))?.poolPrefix, 'tuist-pool-');
    await stop();
  });

  test('the gauge counts stranded Macs, also between two sweeps, and has no value before the first or after a stop', async (t) => {
    const stage = await createHarness(t);
    await stage.addStranded('a', 'somebody-else');
    assert.equal(await stage.stranded(), undefined);
    const { stop } = await stage.start(reportOnly);
    assert.equal(await stage.stranded(), 1);
    await stage.addStranded('b', 'somebody-else-2');
    await stage.settle();
    assert.equal(await stage.stranded(), 2);
    // A zone that cannot be listed leaves its MacHosts as they are.
    await stage.people.touchHost('b');
    await stage.nextRound();
    assert.equal(await stage.stranded(), 2);
    await stage.people.touchHost('b', { state: 'pool' });
    await stage.settle();
    assert.equal(await stage.stranded(), 1);
    await stage.people.removeHost('a');
    await stage.settle();
    assert.equal(await stage.stranded(), 0);
    await stop();
    assert.equal(await stage.stranded(), undefined);
  });

  test('emits a new event when the verdict changes', async (t) => {
    const stage = await createHarness(t);
    await stage.addStranded('a', 'somebody-else');
    const { stop } = await stage.start();
    await stage.nextRound();
    await stage.people.touchHost('a', { name: 'somebody-new' });
    await stage.nextRound();
    const messages = (await stage.eventsOf('a')).map(({ message }) => message ?? '');
    assert.equal(messages.length, 2);
    assert.ok(messages.some((message) => message.includes('somebody-new')));
    await stop();
  });
});

describe('right before it sends a Mac back, the sweep', () => {
  const skips = async (
    t: Parameters<typeof createHarness>[0],
    prepare: (stage: Awaited<ReturnType<typeof createHarness>>) => Promise<unknown>,
  ) => {
    const stage = await createHarness(t);
    await prepare(stage);
    await stage.addStranded('z', 'tuist-tuist-z');
    const { stop } = await stage.start();
    await stage.nextRound();
    assert.equal(await stage.releaseOf('a').catch(() => undefined), undefined);
    assert.ok(await stage.releaseOf('z'), 'the others are not held up by it');
    assert.equal(await stage.reclaimed(), 1);
    const events = await stage.eventsOf('a');
    assert.deepEqual(
      events.filter(({ reason }) => reason !== 'Stranded'),
      [],
    );
    await stop();
  };

  test('skips one whose name a machine has', (t) =>
    skips(t, async (stage) => {
      await stage.addStranded('a', lost);
      await stage.addMachine(lost);
    }));

  test('skips one that a machine has reserved', (t) =>
    skips(t, async (stage) => {
      await stage.addStranded('a', lost);
      await stage.addMachine('tuist-tuist-other', { serverID: 'a' });
    }));

  test('skips one that a machine is bound to', (t) =>
    skips(t, async (stage) => {
      await stage.addStranded('a', lost);
      await stage.addMachine('tuist-tuist-other', {}, { providerID: 'scw-applesilicon://fr-par-1/a' });
    }));

  test('skips one whose holder lives, whatever its MacHost says', (t) =>
    skips(t, async (stage) => {
      const { metadata } = await stage.addMachine('tuist-tuist-m', { serverID: 'elsewhere' });
      await stage.addStranded('a', lost, { spec: { consumerRef: heldBy('tuist-tuist-m', metadata.uid) } });
    }));

  test('skips one that was adopted after it was listed and before it was looked at', (t) =>
    skips(t, async (stage) => {
      await stage.addStranded('a', lost);
      stage.meanwhile(async () => {
        stage.meanwhile(async () => {});
        await stage.addMachine('tuist-tuist-new', { serverID: 'a' });
      });
    }));

  test('skips one that is taken between its last look and its write', (t) =>
    skips(t, async (stage) => {
      await stage.addStranded('a', lost);
      stage.interpose((send) => async (request) => {
        if (request.method === 'PATCH' && request.path.includes('/machosts/a')) {
          stage.interpose((passOn) => passOn);
          const { metadata } = await stage.addMachine('tuist-tuist-new', { serverID: 'a' });
          await stage.people.changeHost('a', { consumerRef: heldBy('tuist-tuist-new', metadata.uid) });
        }
        return send(request);
      });
    }));

  test('skips one that has another name at Scaleway by now', (t) =>
    skips(t, async (stage) => {
      await stage.addStranded('a', lost);
      stage.names.set('a', 'a-person-took-this');
    }));

  test('skips one that Scaleway does not know any more', (t) =>
    skips(t, async (stage) => {
      await stage.addStranded('a', lost);
      stage.gone.add('a');
    }));

  test('skips one that is not stranded any more, although its own copy says so', (t) =>
    skips(t, async (stage) => {
      await stage.addStranded('a', lost);
      stage.interpose((send) => async (request) => {
        if (request.method === 'GET' && /\/machosts\/a\b/.test(request.path)) {
          stage.interpose((passOn) => passOn);
          await stage.people.touchHost('a', { state: 'held' });
        }
        return send(request);
      });
    }));

  test('takes one whose holder certainly lives elsewhere', async (t) => {
    const stage = await createHarness(t);
    const providerID = 'scw-applesilicon://fr-par-1/b';
    const { metadata } = await stage.addMachine(lost, { serverID: 'b' }, { providerID });
    await stage.addStranded('a', lost, { spec: { consumerRef: heldBy(lost, metadata.uid) } });
    const { stop } = await stage.start();
    assert.ok(await stage.releaseOf('a'));
    await stop();
  });

  test('aborts for all Macs when a read fails, with an event, and resumes when reads work', async (t) => {
    for (const [title, about] of [
      ['machines', /\/scalewayapplesiliconmachines/],
      ['the MacHost', /\/machosts\/a\b/],
    ] as const) {
      const stage = await createHarness(t);
      await stage.addStranded('a', lost);
      await stage.addStranded('b', 'tuist-tuist-b');
      let away = true;
      stage.interpose((send) => (request) => {
        const isLook = request.method === 'GET' && about.test(request.path) && !request.path.includes('watch=');
        return away && isLook
          ? Promise.reject(new KubeError('unreachable', `${title} cannot be read.`))
          : send(request);
      });
      const { stop } = await stage.start();
      await stage.settle();
      for (const name of ['a', 'b']) assert.equal(await stage.releaseOf(name), undefined);
      const [event] = await stage.eventsOf('a');
      assert.deepEqual([event?.reason, event?.type], ['ReclaimAborted', 'Warning']);
      assert.match(event?.message ?? '', /cannot be read.*Nothing was done/);
      away = false;
      await stage.nextRound();
      for (const name of ['a', 'b']) assert.ok(await stage.releaseOf(name));
      await stop();
    }
  });

  test('stops when there is no such kind as machines: that is not the answer that there are none', async (t) => {
    const stage = await createHarness(t);
    await stage.addStranded('a', lost);
    stage.interpose(
      (send) => (request) =>
        request.path.includes('/scalewayapplesiliconmachines')
          ? Promise.reject(new KubeError('notFound', 'no'))
          : send(request),
    );
    const { stop } = await stage.start();
    await stage.nextRound();
    assert.equal(await stage.releaseOf('a'), undefined);
    assert.equal((await stage.eventsOf('a'))[0]?.reason, 'ReclaimAborted');
    await stop();
  });

  test('stops when Scaleway does not answer', async (t) => {
    const stage = await createHarness(t);
    await stage.addStranded('a', lost);
    stage.meanwhile(() => Promise.reject(new ScalewayError('Scaleway did not answer.', { kind: 'no answer' })));
    const { stop } = await stage.start();
    assert.equal(await stage.releaseOf('a'), undefined);
    assert.equal((await stage.eventsOf('a'))[0]?.reason, 'ReclaimAborted');
    await stop();
  });

  test('stops when it does not lead any more', async (t) => {
    const stage = await createHarness(t);
    await stage.addStranded('a', lost);
    stage.closeGate(new NotLeadingError('lease', 'it was not renewed'));
    const { stop } = await stage.start();
    await stage.nextRound();
    assert.equal(await stage.releaseOf('a'), undefined);
    assert.deepEqual(await stage.eventsOf('a'), []);
    await stop();
  });
});
