import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { eventually } from '@tartan/kube/testing';
import { inspect } from 'node:util';
import { annotations, machine } from '@tartan/api';
import { newKeyPair, publicKeyOf } from '@tartan/host';
import { KubeError } from '@tartan/kube';
import { namespace } from '../claim/testing/harness.ts';
import { createHarness } from './testing/harness.ts';

const material = (publicKey: string | undefined): string => (publicKey ?? '').split(' ').slice(0, 2).join(' ');
const minute = 60_000;

describe('the key of a fleet', () => {
  test('is stored first and registered then, once for all its machines', async (t) => {
    const stage = await createHarness(t);
    await stage.addMachine('m1', 'runners');
    await stage.addMachine('m2', 'runners');
    let storedWhenRegistered: boolean | undefined;
    const createKey: typeof stage.pool.createKey = async (...args) => {
      storedWhenRegistered = (await stage.readSecret('runners')) !== undefined;
      return stage.pool.createKey(...args);
    };
    const { keys, is, stop, heard, redacted } = await stage.start({ pool: { ...stage.pool, createKey } });
    assert.deepEqual(keys.of('runners'), { kind: 'pending' });
    await is('runners', 'ready');
    assert.equal(storedWhenRegistered, true);
    const stored = await stage.readSecret('runners');
    const [registered, ...more] = stage.keysAtScaleway();
    assert.equal(more.length, 0);
    assert.equal(registered?.name, 'runners');
    assert.equal(material(registered.publicKey), publicKeyOf(stored?.privateKey ?? ''));
    assert.match(stored?.publicKey ?? '', /^ssh-ed25519 \S+ tuist-capi-runners$/);
    assert.equal(stored?.keyID, registered.id);
    assert.deepEqual(keys.of('runners'), {
      kind: 'ready',
      privateKey: stored?.privateKey,
      publicKey: stored?.publicKey,
    });
    assert.deepEqual(heard, ['runners']);
    assert.ok(redacted.includes(stored?.privateKey ?? '?'));
    await stop();
  });

  test('is neither made nor registered while every machine that asks for it is paused', async (t) => {
    const stage = await createHarness(t);
    await stage.addFleet('runners');
    await stage.addMachine('m1', 'runners');
    const pause = (name: string, value: '' | null) =>
      stage.client.patch(
        machine.resource,
        { namespace, name },
        { type: 'merge', body: { metadata: { annotations: { [annotations.paused]: value } } } },
      );
    await pause('m1', '');
    await stage.addMachine('b1', 'builders');
    const { keys, is, stop } = await stage.start();
    await is('builders', 'ready');
    assert.deepEqual(keys.of('runners'), { kind: 'pending' });
    assert.equal(await stage.readSecret('runners'), undefined);
    await pause('m1', null);
    await eventually('the machine is seen to be unpaused', () => {
      stage.clock.advance(15_000);
      return keys.of('runners').kind === 'ready';
    });
    await stop();
  });

  test('is there before the fleet has a machine, so that Macs that are installed now know it (INC-330)', async (t) => {
    const stage = await createHarness(t);
    await stage.addFleet('runners');
    const { is, stop } = await stage.start();
    await is('runners', 'ready');
    assert.equal(stage.keysAtScaleway()[0]?.name, 'runners');
    await stop();
  });

  test('is not made for a fleet that is there only because of its machine', async (t) => {
    const stage = await createHarness(t);
    await stage.addFleet('m1', { 'tuist.dev/managed-by': 'capi-scaleway-applesilicon' });
    await stage.addFleet('runners');
    const { is, keys, stop } = await stage.start();
    await is('runners', 'ready');
    assert.deepEqual(keys.of('m1'), { kind: 'pending' });
    assert.equal(stage.keysAtScaleway().length, 1);
    await stop();
  });

  test('is one of its own for a machine that is of no fleet', async (t) => {
    const stage = await createHarness(t);
    await stage.addMachine('m1');
    const { is, stop } = await stage.start();
    await is('macs-m1', 'ready');
    assert.ok(await stage.readSecret('macs-m1'));
    await stop();
  });

  test('is the same for all managers that make it at once, and registered once', async (t) => {
    const stage = await createHarness(t);
    await stage.addMachine('m1', 'runners');
    const managers = await Promise.all([stage.start(), stage.start(), stage.start()]);
    await eventually('all have it', () => {
      // A manager with a conflict waits for a second.
      stage.clock.advance(1000);
      return managers.every(({ keys }) => keys.of('runners').kind === 'ready');
    });
    // Both may have registered it, if one listed before the other registered: the next pass finds that.
    stage.clock.advance(10 * minute);
    await eventually('there is one key', () => stage.keysAtScaleway().length === 1);
    const stored = await stage.readSecret('runners');
    for (const { keys } of managers)
      assert.deepEqual(keys.of('runners'), {
        kind: 'ready',
        privateKey: stored?.privateKey,
        publicKey: stored?.publicKey,
      });
    assert.equal(material(stage.keysAtScaleway()[0]?.publicKey), material(stored?.publicKey));
    await Promise.all(managers.map(({ stop }) => stop()));
  });

  test('is that of whoever stored it first', async (t) => {
    const stage = await createHarness(t);
    await stage.addMachine('m1', 'runners');
    const theirs = newKeyPair('faster');
    let isFirst = true;
    const { keys, is, stop } = await stage.start({}, (send) => async (request) => {
      if (request.method === 'POST' && request.path.includes('/secrets') && isFirst) {
        isFirst = false;
        await stage.addSecret('runners', { id_ed25519: theirs.privateKey, 'id_ed25519.pub': theirs.publicKey });
      }
      return send(request);
    });
    await is('runners', 'ready');
    assert.equal(isFirst, false);
    assert.deepEqual(keys.of('runners'), { kind: 'ready', ...theirs });
    assert.deepEqual(
      stage.keysAtScaleway().map(({ publicKey }) => material(publicKey)),
      [material(theirs.publicKey)],
    );
    await stop();
  });

  test("leaves somebody else's key of the same name alone, and those of other names", async (t) => {
    const stage = await createHarness(t);
    await stage.addMachine('m1', 'runners');
    const same = await stage.pool.createKey('runners', newKeyPair('alice@home').publicKey);
    const other = await stage.pool.createKey('runners-2', newKeyPair('other').publicKey);
    const { is, stop } = await stage.start();
    await is('runners', 'ready');
    const stored = await stage.readSecret('runners');
    const registered = stage.keysAtScaleway();
    assert.deepEqual(registered.map(({ name }) => name).sort(), ['runners', 'runners', 'runners-2']);
    const theirs = [same.id, other.id];
    assert.ok(theirs.every((left) => registered.some(({ id }) => id === left)));
    assert.equal(material(registered.find(({ id }) => !theirs.includes(id))?.publicKey), material(stored?.publicKey));
    await stop();
  });

  test('that is gone at Scaleway is registered again by the next look, and stays usable meanwhile', async (t) => {
    const stage = await createHarness(t);
    await stage.addMachine('m1', 'runners');
    const { keys, is, stop, heard } = await stage.start();
    await is('runners', 'ready');
    const before = stage.keysAtScaleway()[0]?.id;
    await stage.pool.deleteKey(before ?? '');
    // New machines do not cause a request to Scaleway. Keys are handled in order, so the last one shows that all were.
    await stage.addMachine('m2', 'runners');
    await stage.addMachine('other', 'builders');
    await is('builders', 'ready');
    stage.clock.advance(9 * minute);
    assert.deepEqual(
      stage.keysAtScaleway().map(({ name }) => name),
      ['builders'],
    );
    stage.clock.advance(minute);
    await eventually('it is registered again', async () => {
      const now = stage.keysAtScaleway().find(({ name }) => name === 'runners');
      return now !== undefined && now.id !== before && (await stage.readSecret('runners'))?.keyID === now.id;
    });
    assert.equal(keys.of('runners').kind, 'ready');
    assert.deepEqual(
      heard.filter((fleet) => fleet === 'runners'),
      ['runners'],
      'nobody was disturbed',
    );
    await stop();
  });

  test('may be made by a person, who need not know of the annotation or the public half', async (t) => {
    const stage = await createHarness(t);
    const pair = newKeyPair('me@home');
    await stage.addSecret('runners', { id_ed25519: pair.privateKey });
    await stage.addMachine('m1', 'runners');
    const { keys, is, stop } = await stage.start();
    await is('runners', 'ready');
    assert.deepEqual(keys.of('runners'), {
      kind: 'ready',
      privateKey: pair.privateKey,
      publicKey: material(pair.publicKey),
    });
    assert.equal((await stage.readSecret('runners'))?.keyID, stage.keysAtScaleway()[0]?.id);
    await stop();
  });

  for (const [title, data, sentence] of [
    ['nothing', {}, /has no id_ed25519/],
    ['no key', { id_ed25519: 'planted-secret' }, /holds no private key that can be read/],
    ['a public key', { id_ed25519: newKeyPair('x').publicKey }, /holds no private key that can be read/],
    [
      'two halves of different keys',
      { id_ed25519: newKeyPair('x').privateKey, 'id_ed25519.pub': newKeyPair('y').publicKey },
      /holds two keys that do not belong together/,
    ],
  ] as const) {
    test(`is unavailable when its Secret holds ${title}, which is never overwritten`, async (t) => {
      const stage = await createHarness(t);
      const { metadata } = await stage.addSecret('runners', data);
      await stage.addMachine('m1', 'runners');
      const { keys, is, stop, lines } = await stage.start();
      await is('runners', 'unavailable');
      const key = keys.of('runners');
      const message = key.kind === 'unavailable' ? key.message : '';
      assert.match(message, sentence);
      assert.match(message, /^The Secret macs\/runners-ssh .* delete the Secret to have a new key made/);
      assert.ok(!message.includes('planted-secret') && !lines.join().includes('planted-secret'));
      assert.deepEqual(stage.keysAtScaleway(), []);
      assert.equal((await stage.readSecret('runners'))?.metadata.resourceVersion, metadata.resourceVersion);
      // A user repairs it.
      const good = newKeyPair('mended');
      const encoded = (text: string): string => Buffer.from(text).toString('base64');
      await stage.changeSecret('runners', {
        data: { id_ed25519: encoded(good.privateKey), 'id_ed25519.pub': encoded(good.publicKey) },
      });
      stage.clock.advance(minute);
      await is('runners', 'ready');
      assert.deepEqual(keys.of('runners'), { kind: 'ready', ...good });
      await stop();
    });
  }

  test('is unavailable while it cannot be registered, in the words of Scaleway, and is tried again', async (t) => {
    const stage = await createHarness(t, ['AppleSiliconFullAccess']);
    await stage.addMachine('m1', 'runners');
    const { keys, is, stop } = await stage.start();
    await is('runners', 'unavailable');
    assert.match(inspect(keys.of('runners')), /SSHKeysFullAccess/);
    await stop();
  });

  test('is found registered when the answer was lost', async (t) => {
    const stage = await createHarness(t);
    await stage.addMachine('m1', 'runners');
    stage.scaleway.faults.calls.push({ match: /^POST .*ssh-keys/, times: 1, with: 'lost' });
    const { is, stop } = await stage.start();
    await is('runners', 'unavailable');
    stage.clock.advance(minute);
    await is('runners', 'ready');
    assert.equal(stage.keysAtScaleway().length, 1);
    await stop();
  });

  test('that was registered once can be used while Scaleway is away', async (t) => {
    const stage = await createHarness(t);
    await stage.addMachine('m1', 'runners');
    const first = await stage.start();
    await first.is('runners', 'ready');
    await first.stop();
    stage.scaleway.faults.calls.push({ match: /ssh-keys/, times: 1000, with: { status: 503 } });
    const second = await stage.start();
    await second.is('runners', 'ready');
    assert.deepEqual(second.keys.of('runners'), first.keys.of('runners'));
    await second.stop();
  });

  test('that is good stays good while Kubernetes or Scaleway are away', async (t) => {
    const stage = await createHarness(t);
    await stage.addMachine('m1', 'runners');
    let away = false;
    let refused = 0;
    const { keys, is, stop } = await stage.start({}, (send) => (request) => {
      if (!away || !request.path.includes('/secrets/')) return send(request);
      refused += 1;
      return Promise.reject(new KubeError('unreachable', 'the server is away'));
    });
    await is('runners', 'ready');
    away = true;
    stage.clock.advance(10 * minute);
    await eventually('somebody has asked', () => refused > 0);
    assert.equal(keys.of('runners').kind, 'ready');
    away = false;
    stage.scaleway.faults.calls.push({ match: /ssh-keys/, times: 1000, with: { status: 503 } });
    const asked = stage.scaleway.requests.length;
    stage.clock.advance(10 * minute);
    await eventually('somebody has asked', () => stage.scaleway.requests.length > asked);
    assert.equal(keys.of('runners').kind, 'ready');
    await stop();
  });

  test('is in no log and in no error, even if a server repeats what it was sent', async (t) => {
    const stage = await createHarness(t);
    await stage.addMachine('m1', 'runners');
    const pair = newKeyPair('planted');
    const secretLine = pair.privateKey.split('\n')[2] ?? '';
    assert.ok(secretLine.length > 20);
    const { keys, is, stop, lines } = await stage.start(
      { newKeyPair: () => pair },
      (send) => (request) =>
        request.method === 'POST' && request.path.includes('/secrets')
          ? Promise.reject(
              new KubeError('invalid', `cannot store ${pair.privateKey}`, {
                causes: [{ message: pair.privateKey, field: 'data' }],
                cause: new Error(pair.privateKey),
              }),
            )
          : send(request),
    );
    await is('runners', 'unavailable');
    for (const shown of [inspect(keys.of('runners')), lines.join('\n')]) {
      assert.match(shown, /cannot store/);
      assert.ok(!shown.includes(secretLine) && !shown.includes(Buffer.from(pair.privateKey).toString('base64')));
    }
    await stop();
  });

  test('is forgotten with the last machine of its fleet, and its Secret stays', async (t) => {
    const stage = await createHarness(t);
    await stage.addMachine('m1', 'runners');
    const { keys, is, stop } = await stage.start();
    await is('runners', 'ready');
    await stage.removeMachine('m1');
    await is('runners', 'pending');
    assert.ok(await stage.readSecret('runners'));
    assert.deepEqual(keys.of('never heard of'), { kind: 'pending' });
    await stop();
  });
});
