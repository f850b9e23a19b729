import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  asPrefix,
  configMapKey,
  dnsLabel,
  dnsSubdomain,
  environmentName,
  pathSegment,
  portName,
  qualifiedName,
  validLabelValue,
} from './names.ts';

const table = (name: string, rule: (value: string) => string[], good: string[], bad: [string, RegExp][]): void => {
  describe(name, () => {
    for (const value of good)
      it(`accepts ${JSON.stringify(value.slice(0, 40))}`, () => assert.deepEqual(rule(value), []));
    for (const [value, text] of bad) {
      it(`refuses ${JSON.stringify(value.slice(0, 40))}`, () => assert.match(rule(value).join(' | '), text));
    }
  });
};

table(
  'a DNS label',
  dnsLabel,
  ['a', '1-a', 'a'.repeat(63)],
  [
    ['a.b', /^must not contain dots$/],
    [
      'A',
      /^a lowercase RFC 1123 label must consist .* \(e\.g\. 'my-name', {2}or '123-abc', regex used for validation is '\[a-z0-9\]\(\[-a-z0-9\]\*\[a-z0-9\]\)\?'\)$/,
    ],
    ['a'.repeat(64), /^must be no more than 63 characters$/],
    ['-a', /label/],
  ],
);
table(
  'a DNS subdomain',
  dnsSubdomain,
  ['a', 'a.b-c.1'],
  [
    ['a..b', /^a lowercase RFC 1123 subdomain must consist/],
    ['', /subdomain/],
    ['a'.repeat(254), /^must be no more than 253 characters$/],
  ],
);
table(
  'a path segment',
  pathSegment,
  ['system:x', 'A_b', ''],
  [
    ['.', /^may not be '\.'$/],
    ['..', /^may not be '\.\.'$/],
    ['a/b%', /^may not contain '\/' \| may not contain '%'$/],
  ],
);
table(
  'a qualified name',
  qualifiedName,
  ['a', 'A_b.c', 'example.com/A'],
  [
    ['a b', /^name part must consist of alphanumeric/],
    ['/a', /^prefix part must be non-empty$/],
    ['a/', /^name part must be non-empty \| name part must consist/],
    ['A/b', /^prefix part a lowercase RFC 1123 subdomain/],
    [
      'a/b/c',
      /^a valid label key must consist .* with an optional DNS subdomain prefix and '\/' \(e\.g\. 'example\.com\/MyName'\)$/,
    ],
    ['a'.repeat(64), /^name part must be no more than 63 bytes$/],
  ],
);
table(
  'a label value',
  validLabelValue,
  ['', 'a_B.c-1'],
  [
    ['a b', /^a valid label must be an empty string or consist/],
    ['ä'.repeat(32), /^must be no more than 63 bytes/],
  ],
);
table(
  'a config key',
  configMapKey,
  ['a', '.a', 'A_b-c'],
  [
    ['a b', /^a valid config key must consist/],
    ['..', /^must not be '\.\.'$/],
    ['..a', /^must not start with '\.\.'$/],
  ],
);
table(
  'the name of an environment variable',
  environmentName,
  ['A', '1 b', ''],
  [
    ['a=b', /printable ASCII characters other than '='/],
    ['ä', /printable/],
  ],
);
table(
  'the name of a port',
  portName,
  ['http', 'a-1'],
  [
    ['A', /^must contain only alpha-numeric .* \| must contain at least one letter/],
    ['a--b', /consecutive hyphens/],
    ['-a', /begin or end with a hyphen/],
    ['a'.repeat(16), /no more than 15 characters/],
  ],
);

describe('a name prefix', () => {
  it('may end with a dash', () => assert.deepEqual(dnsLabel(asPrefix('web-')), []));
  it('is validated before the dash', () => assert.notDeepEqual(dnsLabel(asPrefix('We-')), []));
});
