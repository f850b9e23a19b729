import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { type Decision, decide, type RegisteredKeys, type SecretFacts } from './decide.ts';

const key = (id: string, name: string, publicKey: string) => ({ id, name, publicKey });
const has = (...keys: ReturnType<typeof key>[]): RegisteredKeys => ({ kind: 'keys', keys, unlisted: [] });
const ours = 'ssh-ed25519 AAAA tuist-capi-f';
const usable = (keyID?: string): SecretFacts => ({ kind: 'usable', publicKey: ours, keyID });
const silent: RegisteredKeys = { kind: 'unknown', why: 'Scaleway does not answer.' };
const good = key('1', 'f', 'ssh-ed25519 AAAA');

const table: [title: string, secret: SecretFacts, registered: RegisteredKeys, expected: Decision][] = [
  ['no Secret', { kind: 'absent' }, silent, { kind: 'create' }],
  ['no Secret, but a key of that name', { kind: 'absent' }, has(good), { kind: 'create' }],
  ['a Secret without a key', { kind: 'malformed', why: 'x' }, has(good), { kind: 'unavailable', why: 'x' }],
  ['not registered', usable(), has(), { kind: 'register', publicKey: ours }],
  ['not registered any more', usable('1'), has(), { kind: 'register', publicKey: ours }],
  [
    'another key has its name',
    usable('1'),
    has(key('1', 'f', 'ssh-ed25519 BBBB')),
    { kind: 'register', publicKey: ours },
  ],
  [
    'the same key in other white space',
    usable('1'),
    has(key('1', 'f', ' ssh-ed25519  AAAA\n')),
    { kind: 'ready', verified: true, foreignKeys: [] },
  ],
  [
    'registered after the list',
    usable('1'),
    { kind: 'keys', keys: [good], unlisted: ['1'] },
    { kind: 'ready', verified: false, foreignKeys: [] },
  ],
  [
    'another kind of key with the same bytes',
    usable('1'),
    has(key('1', 'f', 'ssh-rsa AAAA')),
    { kind: 'register', publicKey: ours },
  ],
  [
    "somebody else's key has its name too, and stays",
    usable('1'),
    has(key('0', 'f', 'ssh-ed25519 BBBB alice@home'), good),
    { kind: 'ready', verified: true, foreignKeys: ['0'] },
  ],
  [
    "somebody else's key has its name, and none is noted",
    usable(),
    has(key('0', 'f', 'ssh-ed25519 BBBB'), good),
    { kind: 'annotate', keyID: '1' },
  ],
  [
    'the key that the Secret held before has its name too',
    usable('0'),
    has(key('0', 'f', 'ssh-ed25519 BBBB'), good),
    { kind: 'remove', ids: ['0'] },
  ],
  [
    'the key that the Secret held before has another name',
    usable('0'),
    has(key('0', 'alice', 'ssh-ed25519 BBBB'), good),
    { kind: 'annotate', keyID: '1' },
  ],
  [
    'registered twice',
    usable('2'),
    has(good, key('2', 'f', ours), key('3', 'f', ours)),
    { kind: 'remove', ids: ['2', '3'] },
  ],
  ['registered, not noted', usable(), has(good), { kind: 'annotate', keyID: '1' }],
  ['registered, another id noted', usable('9'), has(good), { kind: 'annotate', keyID: '1' }],
  [
    'registered under another name',
    usable(),
    has(key('5', 'mine', 'ssh-ed25519 AAAA me@home')),
    { kind: 'annotate', keyID: '5' },
  ],
  ['registered under both names', usable('5'), has(key('5', 'mine', ours), good), { kind: 'annotate', keyID: '1' }],
  [
    'all is well',
    usable('1'),
    has(good, key('8', 'g', 'ssh-ed25519 CCCC')),
    { kind: 'ready', verified: true, foreignKeys: [] },
  ],
  [
    'Scaleway is silent, and it was registered once',
    usable('1'),
    silent,
    { kind: 'ready', verified: false, foreignKeys: [] },
  ],
  ['Scaleway is silent, and it never was', usable(), silent, { kind: 'unavailable', why: 'Scaleway does not answer.' }],
];

describe('decide, for the SSH key of a fleet', () => {
  for (const [title, secret, registered, expected] of table)
    test(title, () => assert.deepEqual(decide({ fleet: 'f', secret, registered }), expected));

  test('for any keys at Scaleway, keys of others are kept, and the decision converges', () => {
    const keys = fc.uniqueArray(
      fc.record({
        id: fc.nat(30).map(String),
        name: fc.constantFrom('f', 'g'),
        publicKey: fc.constantFrom('ssh-ed25519 AAAA', 'ssh-ed25519 AAAA c', 'ssh-ed25519 BBBB', 'ssh-rsa AAAA'),
      }),
      { selector: ({ id }) => id, maxLength: 8 },
    );
    fc.assert(
      fc.property(keys, fc.option(fc.nat(30).map(String), { nil: undefined }), (start, noted) => {
        let registered: readonly ReturnType<typeof key>[] = start;
        let keyID = noted;
        for (let steps = 0; steps < 5; steps += 1) {
          const decision = decide({ fleet: 'f', secret: usable(keyID), registered: has(...registered) });
          if (decision.kind === 'ready') {
            const named = registered.filter(({ name }) => name === 'f');
            assert.ok(named.filter(({ publicKey }) => publicKey.startsWith('ssh-ed25519 AAAA')).length <= 1);
            assert.deepEqual(
              named.filter(({ id }) => id !== keyID).map(({ id }) => id),
              decision.foreignKeys,
            );
            return assert.ok(
              registered.some(({ id, publicKey }) => id === keyID && publicKey.startsWith('ssh-ed25519 AAAA')),
            );
          }
          if (decision.kind === 'register') registered = [...registered, key('new', 'f', ours)];
          else if (decision.kind === 'annotate') keyID = decision.keyID;
          else if (decision.kind === 'remove') {
            const removed = registered.filter(({ id }) => decision.ids.includes(id));
            const isOurs = ({ id, name, publicKey }: (typeof removed)[number]): boolean =>
              name === 'f' && (id === keyID || publicKey.startsWith('ssh-ed25519 AAAA'));
            assert.ok(removed.every(isOurs));
            registered = registered.filter((each) => !removed.includes(each));
          } else assert.fail(decision.kind);
        }
        assert.fail('it goes on for ever');
      }),
    );
  });
});
