import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { sshAddressOf } from './ssh-address.ts';

describe('the SSH address of a Mac', () => {
  const rows: readonly [string, string, number][] = [
    ['51.15.0.1', '51.15.0.1', 22],
    ['127.0.0.1:40022', '127.0.0.1', 40_022],
    ['mac-1.tail.ts.net', 'mac-1.tail.ts.net', 22],
    ['2001:db8::1', '2001:db8::1', 22],
    ['::1', '::1', 22],
    ['[2001:db8::1]', '2001:db8::1', 22],
    ['[2001:db8::1]:2222', '2001:db8::1', 2222],
  ];
  for (const [text, host, port] of rows)
    test(`is ${host} port ${port} for ${text}`, () => {
      assert.deepEqual(sshAddressOf(text), { host, port, transport: 'public' });
    });

  for (const text of [
    '',
    ' ',
    'a b',
    '1.2.3.4:',
    '1.2.3.4:ssh',
    '1.2.3.4:0',
    '1.2.3.4:65536',
    ':22',
    '[]:22',
    '[::1]x',
  ])
    test(`is not known from ${JSON.stringify(text)}`, () => assert.equal(sshAddressOf(text), undefined));

  test('round-trips for any port', () => {
    fc.assert(
      fc.property(fc.ipV4(), fc.ipV6(), fc.integer({ min: 1, max: 65_535 }), (v4, v6, port) => {
        assert.deepEqual(sshAddressOf(`${v4}:${port}`), { host: v4, port, transport: 'public' });
        assert.deepEqual(sshAddressOf(`[${v6}]:${port}`), { host: v6, port, transport: 'public' });
        assert.deepEqual(sshAddressOf(v6), { host: v6, port: 22, transport: 'public' });
      }),
    );
  });

  test('never throws', () => {
    fc.assert(fc.property(fc.string(), (text) => void sshAddressOf(text)));
  });
});
