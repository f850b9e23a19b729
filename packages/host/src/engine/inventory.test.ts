import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { parseInventory, rebootPending } from './inventory.ts';

const lines = [
  'tartan-inventory\t1',
  'user\tm1\t501',
  'root\tyes',
  'time\t1760000000',
  'boot\t7B1D',
  'macos\t15.6.1',
  'arch\tarm64',
  'free-kib\t104857600',
  'console\tm1',
  'file-vault\toff',
  'agent-release\t',
  'end',
];
const text = (more: readonly string[] = [], without: readonly string[] = []): string => {
  const kept = lines.filter((line) => !without.includes(line.split('\t')[0] ?? ''));
  return `${[...kept.slice(0, -1), ...more, ...kept.slice(-1)].join('\n')}\n`;
};

describe('an inventory', () => {
  test('is parsed from the output of the host', () => {
    const sha256 = 'ab'.repeat(32);
    const inventory = parseInventory(
      text(['lock\tprovider-0#abc\t1759999000', 'reboot-pending\t7B1D', 'stamp\ttart\tcafe', `artifact\t${sha256}`]),
    );
    assert.deepEqual(inventory, {
      user: { name: 'm1', uid: 501 },
      root: true,
      time: 1_760_000_000,
      boot: '7B1D',
      macOS: '15.6.1',
      arch: 'arm64',
      freeKiB: 104_857_600,
      consoleUser: 'm1',
      fileVault: 'off',
      agentRelease: undefined,
      lock: { owner: 'provider-0#abc', since: 1_759_999_000 },
      rebootPendingSince: '7B1D',
      stamps: { tart: 'cafe' },
      artifacts: new Set([sha256]),
    });
    assert.equal(rebootPending(inventory), true);
    assert.equal(rebootPending({ ...inventory, boot: 'another' }), false);
    assert.equal(rebootPending(parseInventory(text())), false);
  });

  const garbage: readonly (readonly [string, string])[] = [
    ['nothing', ''],
    ['a greeting of the login shell before it', `Welcome to m1!\n${text()}`],
    ['a word after it', `${text()}logout\n`],
    ['an end that was cut', text().slice(0, -5)],
    ['the end cut off after a whole line', text(['stamp\ttart\ta']).slice(0, -'end\n'.length)],
    ['a line that was cut', text().replace('root\tyes\n', 'ro')],
    ['a key that we do not know', text(['colour\tblue'])],
    ['a key that every object has', text(['constructor\tx'])],
    ['a value too many', text().replace('root\tyes', 'root\tyes\tno')],
    ['no number where one belongs', text().replace('501', 'five')],
    ['a stamp twice', text(['stamp\ttart\ta', 'stamp\ttart\tb'])],
    ['a fact twice', text(['arch\tarm64'])],
    ['an artifact that is no hash', text(['artifact\tabc'])],
    ['a fact missing', text([], ['boot'])],
  ];
  for (const [what, answer] of garbage) {
    test(`is rejected with ${what}`, () => {
      assert.throws(() => parseInventory(answer), SyntaxError);
    });
  }

  test('is a SyntaxError or an inventory, for any output', () => {
    const line = fc.oneof(fc.constantFrom(...lines), fc.string());
    fc.assert(
      fc.property(fc.array(line), (some) => {
        try {
          parseInventory(`${some.join('\n')}\n`);
        } catch (error) {
          assert.ok(error instanceof SyntaxError);
        }
      }),
    );
  });

  test('quotes at most a line of unreadable output', () => {
    assert.throws(
      () => parseInventory('x'.repeat(10_000)),
      (error: Error) => error.message.length < 200,
    );
  });
});
