import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contains, type Network, parseNetwork } from './network.ts';

const network = (text: string): Network => {
  const parsed = parseNetwork(text);
  assert.ok(parsed, text);
  return parsed;
};

test('an address is in a network by its first bits', () => {
  const table: readonly [string, string, boolean][] = [
    ['10.0.0.0/8', '10.255.1.2', true],
    ['10.0.0.0/8', '11.0.0.1', false],
    ['172.16.0.0/12', '172.31.255.255', true],
    ['172.16.0.0/12', '172.32.0.0', false],
    ['192.168.64.0/22', '192.168.67.9', true],
    ['192.168.64.0/22', '192.168.68.1', false],
    ['0.0.0.0/0', '203.0.113.1', true],
    ['169.254.169.254', '169.254.169.254', true],
    ['169.254.169.254', '169.254.169.253', false],
    ['fd00::/8', 'fd12:3456::1', true],
    ['fd00::/8', 'fe80::1', false],
    ['::/0', '10.0.0.1', false],
    ['10.0.0.0/8', '::ffff:10.0.0.1', false],
  ];
  for (const [outer, inner, expected] of table)
    assert.equal(contains(network(outer), network(inner)), expected, `${inner} in ${outer}`);
});

test('an invalid address is rejected', () => {
  for (const text of [
    '',
    'en0',
    '10.0.0.0/33',
    '10.0.0/8',
    '10.0.0.1/',
    '::1/129',
    '10.0.0.1/8/8',
    'fe80::1%en0',
    '256.0.0.1',
  ])
    assert.equal(parseNetwork(text), undefined, text);
});

test('a single address is printed without a length', () => {
  assert.equal(network('10.96.0.10/32').text, '10.96.0.10');
  assert.equal(network('10.0.0.0/8').text, '10.0.0.0/8');
});
