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

describe('the SSH key of a fleet', () => {
  test('is stored before it is registered, and created once for all machines', async (t) => {
    const harness = await createHarness(t);
    await harness.addMachine('m1', 'runners');
    await harness.addMachine('m2', 'runners');
    let storedWhenRegistered: boolean | undefined;
    const createKey: typeof harness.pool.createKey = async (...args) => {
      storedWhenRegistered = (await harness.readSecret('runners')) !== undefined;
      return harness.pool.createKey(...args);
    };
    const { keys, is, stop, heard, redacted } = await harness.start({ pool: { ...harness.pool, createKey } });
    assert.deepEqual(keys.of('runners'), { kind: 'pending' });
    await is('runners', 'ready');
    assert.equal(storedWhenRegistered, true);
    const stored = await harness.readSecret('runners');
    const [registered, ...more] = harness.keysAtScaleway();
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

  test('is neither created nor registered while every machine of the fleet is paused', async (t) => {
    const harness = await createHarness(t);
    await harness.addFleet('runners');
    await harness.addMachine('m1', 'runners');
    const pause = (name: string, value: '' | null) =>
      harness.client.patch(
        machine.resource,
        { namespace, name },
        { type: 'merge', body: { metadata: { annotations: { [annotations.paused]: value } } } },
      );
    await pause('m1', '');
    await harness.addMachine('b1', 'builders');
    const { keys, is, stop } = await harness.start();
    await is('builders', 'ready');
    assert.deepEqual(keys.of('runners'), { kind: 'pending' });
    assert.equal(await harness.readSecret('runners'), undefined);
    await pause('m1', null);
    await eventually('the machine is seen to be unpaused', () => {
      harness.clock.advance(15_000);
      return keys.of('runners').kind === 'ready';
    });
    await stop();
  });

  test('is created before the fleet has a machine, so that Macs installed now accept it (INC-330)', async (t) => {
    const harness = await createHarness(t);
    await harness.addFleet('runners');
    const { is, stop } = await harness.start();
    await is('runners', 'ready');
    assert.equal(harness.keysAtScaleway()[0]?.name, 'runners');
    await stop();
  });

  test('is not created for a MacFleet that was created for its machine', async (t) => {
    const harness = await createHarness(t);
    await harness.addFleet('m1', { 'tuist.dev/managed-by': 'capi-scaleway-applesilicon' });
    await harness.addFleet('runners');
    const { is, keys, stop } = await harness.start();
    await is('runners', 'ready');
    assert.deepEqual(keys.of('m1'), { kind: 'pending' });
    assert.equal(harness.keysAtScaleway().length, 1);
    await stop();
  });

  test('is created per machine for a machine without a fleet', async (t) => {
    const harness = await createHarness(t);
    await harness.addMachine('m1');
    const { is, stop } = await harness.start();
    await is('macs-m1', 'ready');
    assert.ok(await harness.readSecret('macs-m1'));
    await stop();
  });

  test('costs few lists of the keys at Scaleway, however many machines have a key of their own', async (t) => {
    const harness = await createHarness(t);
    const names = Array.from({ length: 30 }, (_, index) => `m${index}`);
    for (const name of names) await harness.addMachine(name);
    let lists = 0;
    const listKeys: typeof harness.pool.listKeys = (...args) => (lists++, harness.pool.listKeys(...args));
    const { is, stop } = await harness.start({ pool: { ...harness.pool, listKeys } });
    for (const name of names) await is(`${namespace}-${name}`, 'ready');
    assert.equal(harness.keysAtScaleway().length, names.length);
    assert.equal(lists, 1, 'when they are registered');
    harness.clock.advance(minute);
    await eventually('the keys are verified', () => lists === 2);
    harness.clock.advance(10 * minute);
    await eventually('the keys are verified again', () => lists === 3);
    await stop();
  });

  test('is the same for concurrent managers, and registered once', async (t) => {
    const harness = await createHarness(t);
    await harness.addMachine('m1', 'runners');
    const managers = await Promise.all([harness.start(), harness.start(), harness.start()]);
    await eventually('all have it', () => {
      // A manager with a conflict waits for a second.
      harness.clock.advance(1000);
      return managers.every(({ keys }) => keys.of('runners').kind === 'ready');
    });
    // Both may have registered it, if one listed before the other registered: the next pass finds that.
    harness.clock.advance(10 * minute);
    await eventually('there is one key', () => harness.keysAtScaleway().length === 1);
    const stored = await harness.readSecret('runners');
    for (const { keys } of managers)
      assert.deepEqual(keys.of('runners'), {
        kind: 'ready',
        privateKey: stored?.privateKey,
        publicKey: stored?.publicKey,
      });
    assert.equal(material(harness.keysAtScaleway()[0]?.publicKey), material(stored?.publicKey));
    await Promise.all(managers.map(({ stop }) => stop()));
  });

  test('is the one that was stored first', async (t) => {
    const harness = await createHarness(t);
    await harness.addMachine('m1', 'runners');
    const theirs = newKeyPair('faster');
    let isFirst = true;
    const { keys, is, stop } = await harness.start({}, (send) => async (request) => {
      if (request.method === 'POST' && request.path.includes('/secrets') && isFirst) {
        isFirst = false;
        await harness.addSecret('runners', { id_ed25519: theirs.privateKey, 'id_ed25519.pub': theirs.publicKey });
      }
      return send(request);
    });
    await is('runners', 'ready');
    assert.equal(isFirst, false);
    assert.deepEqual(keys.of('runners'), { kind: 'ready', ...theirs });
    assert.deepEqual(
      harness.keysAtScaleway().map(({ publicKey }) => material(publicKey)),
      [material(theirs.publicKey)],
    );
    await stop();
  });

  test('is removed at Scaleway only if another one is there now, and not a minute ago', async (t) => {
    const harness = await createHarness(t);
    const pair = newKeyPair('twice');
    await harness.addSecret('twice', { id_ed25519: pair.privateKey, 'id_ed25519.pub': pair.publicKey });
    const [first] = [
      await harness.pool.createKey('twice', pair.publicKey),
      await harness.pool.createKey('twice', pair.publicKey),
    ];
    await harness.addMachine('m1', 'runners');
    const { is, stop } = await harness.start();
    await is('runners', 'ready');
    // The keys were listed for the other fleet. A user removes the one that would be kept.
    await harness.pool.deleteKey(first.id);
    await harness.addMachine('m2', 'twice');
    await is('twice', 'ready');
    assert.equal(harness.keysAtScaleway().filter(({ name }) => name === 'twice').length, 1);
    await stop();
  });

  test('leaves other keys at Scaleway alone, also one of the same name', async (t) => {
    const harness = await createHarness(t);
    await harness.addMachine('m1', 'runners');
    const same = await harness.pool.createKey('runners', newKeyPair('alice@home').publicKey);
    const other = await harness.pool.createKey('runners-2', newKeyPair('other').publicKey);
    const { is, stop } = await harness.start();
    await is('runners', 'ready');
    const stored = await harness.readSecret('runners');
    const registered = harness.keysAtScaleway();
    assert.deepEqual(registered.map(({ name }) => name).sort(), ['runners', 'runners', 'runners-2']);
    const theirs = [same.id, other.id];
    assert.ok(theirs.every((left) => registered.some(({ id }) => id === left)));
    assert.equal(material(registered.find(({ id }) => !theirs.includes(id))?.publicKey), material(stored?.publicKey));
    await stop();
  });

  test('is registered again after its deletion at Scaleway, and stays usable meanwhile', async (t) => {
    const harness = await createHarness(t);
    await harness.addMachine('m1', 'runners');
    const { keys, is, stop, heard } = await harness.start();
    await is('runners', 'ready');
    const before = harness.keysAtScaleway()[0]?.id;
    await harness.pool.deleteKey(before ?? '');
    // New machines do not cause a request to Scaleway. Keys are handled in order, so the last one shows that all were.
    await harness.addMachine('m2', 'runners');
    await harness.addMachine('other', 'builders');
    await is('builders', 'ready');
    harness.clock.advance(9 * minute);
    assert.deepEqual(
      harness.keysAtScaleway().map(({ name }) => name),
      ['builders'],
    );
    harness.clock.advance(minute);
    await eventually('it is registered again', async () => {
      const now = harness.keysAtScaleway().find(({ name }) => name === 'runners');
      return now !== undefined && now.id !== before && (await harness.readSecret('runners'))?.keyID === now.id;
    });
    assert.equal(keys.of('runners').kind, 'ready');
    assert.deepEqual(
      heard.filter((fleet) => fleet === 'runners'),
      ['runners'],
      'nobody was disturbed',
    );
    await stop();
  });

  test('may be provided in a Secret without annotation and public key', async (t) => {
    const harness = await createHarness(t);
    const pair = newKeyPair('me@home');
    await harness.addSecret('runners', { id_ed25519: pair.privateKey });
    await harness.addMachine('m1', 'runners');
    const { keys, is, stop } = await harness.start();
    await is('runners', 'ready');
    assert.deepEqual(keys.of('runners'), {
      kind: 'ready',
      privateKey: pair.privateKey,
      publicKey: material(pair.publicKey),
    });
    assert.equal((await harness.readSecret('runners'))?.keyID, harness.keysAtScaleway()[0]?.id);
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
    test(`is unavailable when its Secret holds ${title}, and the Secret is not overwritten`, async (t) => {
      const harness = await createHarness(t);
      const { metadata } = await harness.addSecret('runners', data);
      await harness.addMachine('m1', 'runners');
      const { keys, is, stop, lines } = await harness.start();
      await is('runners', 'unavailable');
      const key = keys.of('runners');
      const message = key.kind === 'unavailable' ? key.message : '';
      assert.match(message, sentence);
      assert.match(message, /^The Secret macs\/runners-ssh .* delete the Secret to have a new key made/);
      assert.ok(!message.includes('planted-secret') && !lines.join().includes('planted-secret'));
      assert.deepEqual(harness.keysAtScaleway(), []);
      assert.equal((await harness.readSecret('runners'))?.metadata.resourceVersion, metadata.resourceVersion);
      // A user repairs it.
      const good = newKeyPair('mended');
      const encoded = (text: string): string => Buffer.from(text).toString('base64');
      await harness.changeSecret('runners', {
        data: { id_ed25519: encoded(good.privateKey), 'id_ed25519.pub': encoded(good.publicKey) },
      });
      harness.clock.advance(minute);
      await is('runners', 'ready');
      assert.deepEqual(keys.of('runners'), { kind: 'ready', ...good });
      await stop();
    });
  }

  test('is unavailable with the error of Scaleway while it cannot be registered, and is retried', async (t) => {
    const harness = await createHarness(t, ['AppleSiliconFullAccess']);
    await harness.addMachine('m1', 'runners');
    const { keys, is, stop } = await harness.start();
    await is('runners', 'unavailable');
    assert.match(inspect(keys.of('runners')), /SSHKeysFullAccess/);
    await stop();
  });

  test('is found as registered when the response was lost', async (t) => {
    const harness = await createHarness(t);
    await harness.addMachine('m1', 'runners');
    harness.scaleway.faults.calls.push({ match: /^POST .*ssh-keys/, times: 1, with: 'lost' });
    const { is, stop } = await harness.start();
    await is('runners', 'unavailable');
    harness.clock.advance(minute);
    await is('runners', 'ready');
    assert.equal(harness.keysAtScaleway().length, 1);
    await stop();
  });

  test('is usable while Scaleway is unreachable, once it was registered', async (t) => {
    const harness = await createHarness(t);
    await harness.addMachine('m1', 'runners');
    const first = await harness.start();
    await first.is('runners', 'ready');
    await first.stop();
    harness.scaleway.faults.calls.push({ match: /ssh-keys/, times: 1000, with: { status: 503 } });
    const second = await harness.start();
    await second.is('runners', 'ready');
    assert.deepEqual(second.keys.of('runners'), first.keys.of('runners'));
    await second.stop();
  });

  test('stays ready while Kubernetes or Scaleway are unreachable', async (t) => {
    const harness = await createHarness(t);
    await harness.addMachine('m1', 'runners');
    let away = false;
    let refused = 0;
    const { keys, is, stop } = await harness.start({}, (send) => (request) => {
      if (!away || !request.path.includes('/secrets/')) return send(request);
      refused += 1;
      return Promise.reject(new KubeError('unreachable', 'the server is away'));
    });
    await is('runners', 'ready');
    away = true;
    harness.clock.advance(10 * minute);
    await eventually('somebody has asked', () => refused > 0);
    assert.equal(keys.of('runners').kind, 'ready');
    away = false;
    harness.scaleway.faults.calls.push({ match: /ssh-keys/, times: 1000, with: { status: 503 } });
    const asked = harness.scaleway.requests.length;
    harness.clock.advance(10 * minute);
    await eventually('somebody has asked', () => harness.scaleway.requests.length > asked);
    assert.equal(keys.of('runners').kind, 'ready');
    await stop();
  });

  test('is in no log and in no error, even if a server echoes the request', async (t) => {
    const harness = await createHarness(t);
    await harness.addMachine('m1', 'runners');
    const pair = newKeyPair('planted');
    const secretLine = pair.privateKey.split('\n')[2] ?? '';
    assert.ok(secretLine.length > 20);
    const { keys, is, stop, lines } = await harness.start(
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

  test('is forgotten with the last machine of its fleet, and its Secret is kept', async (t) => {
    const harness = await createHarness(t);
    await harness.addMachine('m1', 'runners');
    const { keys, is, stop } = await harness.start();
    await is('runners', 'ready');
    await harness.removeMachine('m1');
    await is('runners', 'pending');
    assert.ok(await harness.readSecret('runners'));
    assert.deepEqual(keys.of('never heard of'), { kind: 'pending' });
    await stop();
  });
});
