import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { manualClock } from '@tartan/kube/clock';
import type { RegisteredKey } from '@tartan/scaleway';
import { createRegisteredKeys } from './registered-keys.ts';

const keyOf = (id: string): RegisteredKey => ({ id, name: `name-${id}`, publicKey: `ssh-ed25519 ${id}` });

const setUp = () => {
  const clock = manualClock();
  const atScaleway = new Map<string, RegisteredKey>();
  let lists = 0;
  let failing = false;
  const registered = createRegisteredKeys(
    {
      listKeys: async () => (lists++, [...atScaleway.values()]),
      createKey: async (name) => {
        const key = keyOf(name);
        atScaleway.set(name, key);
        if (failing) throw new Error('the response was lost');
        return key;
      },
      deleteKey: async (id) => {
        atScaleway.delete(id);
        if (failing) throw new Error('the response was lost');
      },
    },
    clock,
  );
  const ids = async (isFresh = false) => (await registered.list({}, isFresh)).keys.map(({ id }) => id);
  return { clock, atScaleway, keys: registered, ids, lists: () => lists, fail: () => (failing = true) };
};

describe('the list of the keys at Scaleway', () => {
  test('serves for a minute, unless a fresh one is wanted', async () => {
    const { clock, ids, lists } = setUp();
    await ids();
    clock.advance(59_999);
    await ids();
    assert.equal(lists(), 1);
    await ids(true);
    assert.equal(lists(), 2);
    clock.advance(60_000);
    await ids();
    assert.equal(lists(), 3);
  });

  test('has what was registered and removed since, and says what Scaleway has not listed', async () => {
    const { keys, ids, lists } = setUp();
    await ids();
    for (const name of ['a', 'b']) await keys.create(name, '', {});
    await keys.remove('a', {});
    assert.deepEqual(await ids(), ['b']);
    assert.deepEqual((await keys.list({})).unlisted, ['a', 'b']);
    assert.equal(lists(), 1);
    assert.deepEqual((await keys.list({}, true)).unlisted, []);
  });

  for (const [what, change] of [
    ['a registration', (keys: ReturnType<typeof setUp>['keys']) => keys.create('b', '', {})],
    ['a removal', (keys: ReturnType<typeof setUp>['keys']) => keys.remove('a', {})],
  ] as const)
    test(`is made again after ${what} whose outcome is unknown`, async () => {
      const { keys, atScaleway, ids, lists, fail } = setUp();
      atScaleway.set('a', keyOf('a'));
      await ids();
      fail();
      await assert.rejects(change(keys));
      assert.deepEqual(await ids(), [...atScaleway.keys()]);
      assert.equal(lists(), 2);
    });
});
