import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isKubeError, KubeError } from '@tartan/kube';
import { giveBackHost } from './give-back-host.ts';
import { aRelease, heldBy } from './testing/a-host.ts';
import { setStage } from './testing/embedded.ts';

const mine = heldBy('m', 'uid-m');
const back = { serverID: 'a', holder: 'uid-m', release: aRelease };

describe('a machine gives its Mac back', () => {
  test('in one write: no holder, a release, no reboot', async (t) => {
    const { client, people, requests } = await setStage(t);
    await people.addHost('a', {
      consumerRef: mine,
      poolPrefix: 'other-',
      reboot: { requestedAt: '2026-01-01T00:00:00Z' },
    });
    const outcome = await giveBackHost(client, {
      ...back,
      release: ({ spec }) => ({ ...aRelease, poolPrefix: spec.poolPrefix ?? '' }),
    });
    assert.equal(outcome.kind, 'given');
    assert.deepEqual(requests, ['GET machosts/a', 'PATCH machosts/a']);
    const { spec } = await people.host('a');
    assert.deepEqual(spec, { zone: 'fr-par-1', poolPrefix: 'other-', release: { ...aRelease, poolPrefix: 'other-' } });
  });

  test('once: the second time it is not its own any more', async (t) => {
    const { client, people } = await setStage(t);
    await people.addHost('a', { consumerRef: mine });
    await giveBackHost(client, back);
    const { metadata } = await people.host('a');
    const outcome = await giveBackHost(client, back);
    assert.equal(outcome.kind, 'notMine');
    assert.deepEqual(outcome.kind === 'notMine' && outcome.host?.spec.release, aRelease);
    assert.equal((await people.host('a')).metadata.resourceVersion, metadata.resourceVersion);
  });

  for (const [title, spec] of [
    ['another machine holds', { consumerRef: heldBy('other', 'uid-other') }],
    ['another machine of its name holds', { consumerRef: heldBy('m', 'uid-older') }],
    ['nobody holds', {}],
  ] as const) {
    test(`never one that ${title}`, async (t) => {
      const { client, people, requests } = await setStage(t);
      await people.addHost('a', spec);
      assert.equal((await giveBackHost(client, back)).kind, 'notMine');
      assert.deepEqual(requests, ['GET machosts/a']);
    });
  }

  test('or finds it gone', async (t) => {
    const { client } = await setStage(t);
    assert.deepEqual(await giveBackHost(client, back), { kind: 'notMine', host: undefined });
  });

  test('never one that somebody else got between the look and the write', async (t) => {
    const { client, people, interpose } = await setStage(t);
    await people.addHost('a', { consumerRef: mine });
    let done = false;
    interpose((send) => async (request) => {
      if (request.method === 'PATCH' && !done) {
        done = true;
        await people.changeHost('a', { consumerRef: null });
        await people.changeHost('a', { consumerRef: heldBy('other', 'uid-other') });
      }
      return send(request);
    });
    assert.equal((await giveBackHost(client, back)).kind, 'notMine');
    assert.equal((await people.host('a')).spec.consumerRef?.uid, 'uid-other');
  });

  test('also when its status is written meanwhile, but not for ever', async (t) => {
    const { client, people, interpose } = await setStage(t);
    await people.addHost('a', { consumerRef: mine });
    let writes = 0;
    let most = 2;
    interpose((send) => async (request) => {
      if (request.method === 'PATCH' && writes++ < most) await people.touchHost('a', { ip: `198.18.0.${writes}` });
      return send(request);
    });
    assert.equal((await giveBackHost(client, back)).kind, 'given');
    await people.addHost('b', { consumerRef: mine });
    most = Infinity;
    interpose((send) => async (request) => {
      if (request.method === 'PATCH') await people.touchHost('b', { ip: `198.18.1.${writes++}` });
      return send(request);
    });
    assert.equal((await giveBackHost(client, { ...back, serverID: 'b' })).kind, 'tryAgain');
  });

  test('surfaces what it cannot judge', async (t) => {
    const { client, interpose } = await setStage(t);
    interpose(() => () => Promise.reject(new KubeError('unreachable', 'no')));
    await assert.rejects(giveBackHost(client, back), (error) => isKubeError(error, 'unreachable'));
  });
});
