import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { parseUsedPercent } from './guest-disks.ts';

const mac = `Filesystem     1024-blocks     Used Available Capacity iused     ifree %iused  Mounted on
/dev/disk3s1s1    47941836 10485760   4666340    93%  404475 1048576000    0%   /
`;

describe('parsing of df output', () => {
  test('returns the usage of blocks, not of inodes', () => {
    assert.equal(parseUsedPercent(mac), 93);
    assert.equal(parseUsedPercent('Filesystem 1K-blocks Used Available Use% Mounted on\n/dev/vda1 10 9 1 90% /'), 90);
    assert.equal(parseUsedPercent('map auto_home 0 0 0 100% /home'), 100);
  });

  test('returns undefined for anything else', () => {
    for (const text of [
      '',
      '\n\n',
      '93%',
      'x 93%',
      '/dev/disk1 1 2 3 193% /',
      '/dev/disk1 1 2 3 -5% /',
      '/dev/disk1 1 2 3 9e1% /',
      '/dev/disk1 a b c 93% /',
      `${mac}but then it fails`,
      `${' '.repeat(100_000)}1 2 3 93%`,
    ])
      assert.equal(parseUsedPercent(text), undefined, JSON.stringify(text.slice(0, 80)));
  });

  test('never throws and never leaves 0 to 100', () => {
    const odd = fc.oneof(
      fc.string(),
      fc.array(fc.constantFrom('/dev/x', ' ', '1', '99', '%', '\n', '-', '9'.repeat(30))).map((all) => all.join('')),
    );
    fc.assert(
      fc.property(odd, (text) => {
        const percent = parseUsedPercent(text);
        assert.ok(percent === undefined || (percent >= 0 && percent <= 100));
      }),
    );
  });
});
