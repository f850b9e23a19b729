import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { VmEgress } from '../host-spec.ts';
import { egressRules } from './guest-network.ts';

type Allowed = VmEgress['allow'][number];
const cache: Allowed = { cidr: '172.16.0.0/22', protocol: 'tcp', ports: '30000:32767' };

const rulesOf = (...allow: readonly Allowed[]): string[] =>
  egressRules({ allow })
    .text.split('\n')
    .filter((line) => /^(pass|block)/.test(line));

test('allowed networks come before the blocking rules, and after those that are never open', () => {
  const rules = rulesOf(cache);
  const [metadata, ipv6, allowed, ...blocks] = rules;
  assert.match(metadata ?? '', /^block drop quick inet from <vm_sources> to 169\.254\.169\.254 /);
  assert.match(ipv6 ?? '', /^block drop in quick on \{ bridge100, .* \} inet6 all /);
  assert.match(allowed ?? '', /^pass quick inet proto tcp from <vm_sources> to 172\.16\.0\.0\/22 port 30000:32767 /);
  assert.equal(blocks.length, 2);
  assert.ok(blocks.every((rule) => rule.startsWith('block drop ') && rule.includes('to <blocked_dst>')));
});

test('every rule is quick, so that the first that matches decides', () => {
  assert.ok(rulesOf(cache).every((rule) => / quick /.test(rule)));
});

test('no table outlives its rules', () => assert.doesNotMatch(egressRules({ allow: [] }).text, /persist/));

test('every rule has the label of its text', () => {
  const { text, label } = egressRules({ allow: [cache] });
  const rules = text.split('\n').filter((line) => /^(pass|block)/.test(line));
  assert.ok(rules.every((rule) => rule.endsWith(`label "${label}"`)));
  // pf accepts 63 characters.
  assert.ok(label.length < 64);
});

test('labels are equal exactly for equal texts', () => {
  const labels = [
    egressRules({ allow: [] }),
    egressRules({ allow: [cache] }),
    egressRules({ allow: [{ ...cache, ports: '4000' }] }),
    egressRules({ allow: [{ ...cache, protocol: 'udp' }] }),
    egressRules({ allow: [{ ...cache, cidr: '172.16.0.0/23' }] }),
  ].map(({ label }) => label);
  assert.equal(new Set(labels).size, labels.length);
  assert.equal(egressRules({ allow: [cache] }).label, labels[1]);
});

test('several ports become a list', () => {
  assert.match(rulesOf({ ...cache, ports: '80, 443,8000:8100' })[2] ?? '', / port \{ 80, 443, 8000:8100 \} /);
});

for (const cidr of [
  '',
  '10.0.0.0',
  '10.0.0/8',
  '10.0.0.0/33',
  '256.0.0.0/8',
  '10.0.0.1/8',
  '10.0.0.0/8 port 22',
  'any',
  'fd00::/8',
  ' 10.0.0.0/8',
]) {
  test(`"${cidr}" is not accepted as a network`, () => {
    assert.throws(() => egressRules({ allow: [cache, { ...cache, cidr }] }), /^TypeError: vmEgress\.allow\[1\]: /);
  });
}

for (const ports of ['', '0', '65536', '30:20', '22;23', 'ssh', '1:2:3', '80,', '-1', '80 443']) {
  test(`"${ports}" are not accepted as ports`, () => {
    assert.throws(() => egressRules({ allow: [{ ...cache, ports }] }), /^TypeError: vmEgress\.allow\[0\]: /);
  });
}

test('a protocol other than tcp and udp is an error', () => {
  const protocol = 'icmp' as 'tcp';
  assert.throws(() => egressRules({ allow: [{ ...cache, protocol }] }), /neither tcp nor udp/);
});

test('any text as network or ports gives one rule of the known form or an error', () => {
  const form =
    /^pass quick inet proto tcp from <vm_sources> to [\d./]+ port [\d:{}, ]+ keep state label "tuist\.runners:[0-9a-f]{16}"$/;
  const text = fc.oneof(fc.string(), fc.stringMatching(/^[0-9./:, ]{0,20}$/));
  fc.assert(
    fc.property(text, text, (cidr, ports) => {
      let rules: string[];
      try {
        rules = rulesOf({ cidr, protocol: 'tcp', ports });
      } catch (error) {
        return error instanceof TypeError;
      }
      return rules.length === 5 && form.test(rules[2] ?? '');
    }),
  );
});
