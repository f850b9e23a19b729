import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { type FlagType, listOf, optional, quote } from './flag.ts';
import { apiURL, bindAddress, ipv4Address, ipv4Network, serverURL } from './network-types.ts';
import {
  absolutePath,
  anyPath,
  bool,
  duration,
  formatDuration,
  integer,
  namespaceName,
  objectName,
  oneOf,
} from './value-types.ts';

const kinds: Record<string, FlagType<unknown>> = {
  absolutePath,
  anyPath,
  apiURL,
  bindAddress,
  count: integer({ from: 1, to: 64 }),
  ipv4Address,
  ipv4Network,
  listOfNamespaces: listOf(namespaceName),
  namespaceName,
  objectName,
  oneOf: oneOf(['json', 'text']),
  optionalPath: optional(absolutePath),
  serverURL,
  yesOrNo: bool,
};

const taken: [kind: string, text: string, value: unknown][] = [
  ['yesOrNo', 'true', true],
  ['yesOrNo', '1', true],
  ['yesOrNo', 'T', true],
  ['yesOrNo', 'False', false],
  ['yesOrNo', '0', false],
  ['count', '1', 1],
  ['count', '+64', 64],
  ['count', '007', 7],
  ['oneOf', 'text', 'text'],
  ['absolutePath', '/opt/tart/tart.tar.gz', '/opt/tart/tart.tar.gz'],
  ['anyPath', 'kubeconfig', 'kubeconfig'],
  ['optionalPath', '', undefined],
  ['optionalPath', '/x', '/x'],
  ['namespaceName', 'tuist', 'tuist'],
  ['objectName', 'a.b-c', 'a.b-c'],
  ['listOfNamespaces', '', []],
  ['listOfNamespaces', 'a, b,,a', ['a', 'b']],
  ['bindAddress', ':8080', { host: '', port: 8080 }],
  ['bindAddress', '0.0.0.0:0', { host: '0.0.0.0', port: 0 }],
  ['bindAddress', 'localhost:9', { host: 'localhost', port: 9 }],
  ['bindAddress', '[::1]:65535', { host: '::1', port: 65_535 }],
  ['bindAddress', '0', undefined],
  ['ipv4Address', '10.96.0.10', '10.96.0.10'],
  ['ipv4Network', '10.96.0.0/12', '10.96.0.0/12'],
  ['ipv4Network', '0.0.0.0/0', '0.0.0.0/0'],
  ['serverURL', 'https://k8s.example.com:6443/', 'https://k8s.example.com:6443'],
  ['serverURL', 'https://[2001:db8::1]:6443', 'https://[2001:db8::1]:6443'],
  ['apiURL', 'https://api.github.com/', 'https://api.github.com'],
  ['apiURL', 'https://github.example.com/api/v3', 'https://github.example.com/api/v3'],
  ['apiURL', 'http://127.0.0.1:8080', 'http://127.0.0.1:8080'],
  ['apiURL', 'http://[::1]:8080/', 'http://[::1]:8080'],
];

const refused: [kind: string, text: string, problem: RegExp][] = [
  ['yesOrNo', 'yes', /is neither true nor false/],
  ['yesOrNo', '', /is neither true nor false/],
  ['count', '0', /is not between 1 and 64/],
  ['count', '65', /is not between 1 and 64/],
  ['count', '4.5', /is no whole number/],
  ['count', '0x4', /is no whole number/],
  ['count', '', /is no whole number/],
  ['oneOf', 'xml', /is none of json, text/],
  ['absolutePath', 'tart.tar.gz', /is no absolute path/],
  ['absolutePath', '/a\0b', /is no absolute path/],
  ['absolutePath', '', /is empty/],
  ['anyPath', 'a\0b', /is no path/],
  ['optionalPath', 'x', /is no absolute path/],
  ['namespaceName', 'Tuist', /is no name of a namespace/],
  ['namespaceName', 'a.b', /is no name of a namespace/],
  ['namespaceName', 'a'.repeat(64), /is longer than 63/],
  ['objectName', '-a', /is no name of a Kubernetes object/],
  ['listOfNamespaces', 'a,B', /holds "B", which is no name/],
  ['bindAddress', '8080', /is no address/],
  ['bindAddress', ':65536', /above 65535/],
  ['bindAddress', '::1:80', /is no address/],
  ['bindAddress', '', /is no address/],
  ['ipv4Address', '10.96.0.256', /is no IPv4 address/],
  ['ipv4Address', '010.96.0.10', /is no IPv4 address/],
  ['ipv4Address', '::1', /is no IPv4 address/],
  ['ipv4Address', '10.96.0.10/32', /is no IPv4 address/],
  ['ipv4Network', '10.96.0.0', /is no IPv4 network/],
  ['ipv4Network', '010.96.0.0/12', /is no IPv4 network/],
  ['ipv4Network', '10.96.0.0/33', /is no IPv4 network/],
  ['ipv4Network', '10.96.0.1/12', /bits set behind its prefix/],
  ['serverURL', 'k8s.example.com', /is no URL/],
  ['serverURL', 'http://k8s.example.com', /does not begin with https/],
  ['serverURL', 'https://me:pass@k8s.example.com', /holds a user or a password/],
  ['serverURL', 'https://k8s.example.com/path', /more than a host and a port/],
  ['serverURL', 'https://k8s.example.com?x', /more than a host and a port/],
  ['apiURL', 'api.github.com', /is no URL/],
  ['apiURL', 'http://api.github.com', /does not begin with https/],
  ['apiURL', 'http://127.0.0.1.example.com', /does not begin with https/],
  ['apiURL', 'ftp://127.0.0.1', /does not begin with https/],
  ['apiURL', 'https://token@api.github.com', /holds a user or a password/],
  ['apiURL', 'https://api.github.com?x', /more than a host, a port and a path/],
];

describe('the type of a flag value', () => {
  for (const [kind, text, value] of taken) {
    test(`${kind} accepts ${JSON.stringify(text)}`, () => assert.deepEqual(kinds[kind]?.parse(text), { value }));
  }
  for (const [kind, text, problem] of refused) {
    test(`${kind} rejects ${JSON.stringify(text.slice(0, 40))}`, () => {
      const parsed = kinds[kind]?.parse(text);
      assert.match(parsed !== undefined && 'problem' in parsed ? parsed.problem : 'taken', problem);
    });
  }
  for (const [kind, type] of Object.entries(kinds)) {
    test(`${kind} parses or rejects any text, and its format can be parsed`, () => {
      fc.assert(
        fc.property(fc.oneof(fc.string(), fc.constantFrom(...type.examples)), (text) => {
          const parsed = type.parse(text);
          if ('value' in parsed) assert.deepEqual(type.parse((type.format ?? String)(parsed.value)), parsed);
          else assert.notEqual(parsed.problem, '');
        }),
      );
    });
  }

  test('shows an invalid value on one line, truncated, without the password of a URL', () => {
    assert.equal(quote('a\nb'), '"a\\nb"');
    assert.equal(quote('x'.repeat(100)), `"${'x'.repeat(80)}…"`);
    assert.equal(quote('https://me:p@ss@host/'), '"https://…@host/"');
  });
});

const day = 86_400_000;
const upToADay = duration({ fromMs: 1_000, toMs: day });

describe('a duration', () => {
  const taken: [text: string, ms: number][] = [
    ['30m', 1_800_000],
    ['1h30m', 5_400_000],
    ['15m0s', 900_000],
    ['1h0m0.5s', 3_600_500],
    ['1.5h', 5_400_000],
    ['.5m', 30_000],
    ['1.s', 1_000],
    ['+90s', 90_000],
    ['1500ms', 1_500],
    ['1000000us', 1_000],
    ['1000000µs', 1_000],
    ['1000000μs', 1_000],
    ['2000000000ns', 2_000],
    ['24h', day],
  ];
  for (const [text, ms] of taken) {
    test(`${text} is ${ms} ms, as in Go`, () => assert.deepEqual(upToADay.parse(text), { value: ms }));
  }

  const refused: [text: string, problem: RegExp][] = [
    ['', /is no duration/],
    ['15', /has no unit/],
    ['-15', /has no unit/],
    ['-15m', /is below zero/],
    ['15 m', /is no duration/],
    ['15M', /is no duration/],
    ['1d', /is no duration/],
    ['.m', /is no duration/],
    ['m', /is no duration/],
    ['15m ', /is no duration/],
    ['15m\n', /is no duration/],
    ['0', /is not between 1s and 24h$/],
    ['999ms', /is not between 1s and 24h$/],
    ['24h1s', /is not between 1s and 24h$/],
    [`${'9'.repeat(400)}h`, /is not between/],
  ];
  for (const [text, problem] of refused) {
    test(`${JSON.stringify(text.slice(0, 20))} is rejected`, () => {
      const parsed = upToADay.parse(text);
      assert.match('problem' in parsed ? parsed.problem : 'taken', problem);
    });
  }

  test('0 is accepted where it disables the flag', () => {
    const orNever = duration({ fromMs: 1_000, toMs: day, zero: true });
    for (const text of ['0', '+0', '0s', '0h0m']) assert.deepEqual(orNever.parse(text), { value: 0 });
    assert.deepEqual(orNever.parse('1ms'), { problem: 'is not between 1s and 24h, nor 0' });
  });

  test('a formatted duration parses to the same value', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1_000, max: day }), (ms) =>
        assert.deepEqual(upToADay.parse(formatDuration(ms)), { value: ms }),
      ),
    );
  });
});
