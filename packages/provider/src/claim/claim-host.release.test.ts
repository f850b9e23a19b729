import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isKubeError, KubeError } from '@tartan/kube';
import { releaseHeldHost } from './claim-host.ts';
import { createHarness } from './testing/harness.ts';
import { exampleRelease, heldBy } from './testing/hosts.ts';

const mine = heldBy('m', 'uid-m');
const back = { serverID: 'a', holder: 'uid-m', release: exampleRelease };

describe('releaseHeldHost', () => {
  test('clears consumerRef and reboot and sets the release in one write', async (t) => {
    const { client, fixtures, requests } = await createHarness(t);
    await fixtures.addHost('a', {
      consumerRef: mine,
      poolPrefix: 'other-',
      reboot: { requestedAt: '2026-01-01T00:00:00Z' },
    });
    assert.equal(await releaseHeldHost(client, back), 'released');
    assert.deepEqual(requests, ['GET machosts/a', 'PATCH machosts/a']);
    const { spec } = await fixtures.host('a');
    assert.deepEqual(spec, { zone: 'fr-par-1', poolPrefix: 'other-', release: exampleRelease });
  });

  test('does nothing the second time', async (t) => {
    const { client, fixtures } = await createHarness(t);
    await fixtures.addHost('a', { consumerRef: mine });
    await releaseHeldHost(client, back);
    const before = await fixtures.host('a');
    assert.equal(await releaseHeldHost(client, back), 'not held');
    assert.deepEqual(await fixtures.host('a'), before);
    assert.deepEqual(before.spec.release, exampleRelease);
  });

  for (const [title, spec] of [
    ['another machine holds', { consumerRef: heldBy('other', 'uid-other') }],
    ['another machine with its name holds', { consumerRef: heldBy('m', 'uid-older') }],
    ['no machine holds', {}],
  ] as const) {
    test(`never releases a Mac that ${title}`, async (t) => {
      const { client, fixtures, requests } = await createHarness(t);
      await fixtures.addHost('a', spec);
      assert.equal(await releaseHeldHost(client, back), 'not held');
      assert.deepEqual(requests, ['GET machosts/a']);
    });
  }

  test('reports a MacHost that is gone', async (t) => {
    const { client } = await createHarness(t);
    assert.equal(await releaseHeldHost(client, back), 'not held');
  });

  test('never releases a Mac that changed holder between read and write', async (t) => {
    const { client, fixtures, interpose } = await createHarness(t);
    await fixtures.addHost('a', { consumerRef: mine });
    let done = false;
    interpose((send) => async (request) => {
      if (request.method === 'PATCH' && !done) {
        done = true;
        await fixtures.changeHost('a', { consumerRef: null });
        await fixtures.changeHost('a', { consumerRef: heldBy('other', 'uid-other') });
      }
      return send(request);
    });
    assert.equal(await releaseHeldHost(client, back), 'not held');
    assert.equal((await fixtures.host('a')).spec.consumerRef?.uid, 'uid-other');
  });

  test('retries after a concurrent status write, a limited number of times', async (t) => {
    const { client, fixtures, interpose } = await createHarness(t);
    await fixtures.addHost('a', { consumerRef: mine });
    let writes = 0;
    let most = 2;
    interpose((send) => async (request) => {
      if (request.method === 'PATCH' && writes++ < most) await fixtures.touchHost('a', { ip: `198.18.0.${writes}` });
      return send(request);
    });
    assert.equal(await releaseHeldHost(client, back), 'released');
    await fixtures.addHost('b', { consumerRef: mine });
    most = Infinity;
    interpose((send) => async (request) => {
      if (request.method === 'PATCH') await fixtures.touchHost('b', { ip: `198.18.1.${writes++}` });
      return send(request);
    });
    assert.equal(await releaseHeldHost(client, { ...back, serverID: 'b' }), 'conflict');
  });

  test('rejects with other errors', async (t) => {
    const { client, interpose } = await createHarness(t);
    interpose(() => () => Promise.reject(new KubeError('unreachable', 'no')));
    await assert.rejects(releaseHeldHost(client, back), (error) => isKubeError(error, 'unreachable'));
  });
});
