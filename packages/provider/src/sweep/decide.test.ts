import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { type ReclaimPolicy, type StrandedHost, strandedVerdict } from './decide.ts';

const now = 1_000_000_000;
const hour = 3_600_000;
const active: ReclaimPolicy = { claimNamePrefix: 'tuist-tuist-', defaultPoolPrefix: 'tuist-pool-' };
const reportOnly: ReclaimPolicy = { ...active, claimNamePrefix: undefined };
const noPool: ReclaimPolicy = { ...active, defaultPoolPrefix: undefined };
const ours: StrandedHost = { name: 'tuist-tuist-x', since: now, poolPrefix: undefined, hadHolder: false, pauses: [] };
const pending = (ageMs: number | undefined): StrandedHost => ({
  ...ours,
  name: 'tuist-claim-pending-1',
  since: ageMs === undefined ? undefined : now - ageMs,
});

const messages: Readonly<Record<string, RegExp>> = {
  ReportOnly:
    /only reports\. With --orphan-reclaim-claim-name-prefix .* it would be (wiped and put back into the pool tuist-pool-|put back into a pool) if/,
  ClaimPending: /a claim is under way/,
  NotOurs: /(the name of the machine fleet\/tuist-tuist-x|does not begin with tuist-tuist-).*rename it at Scaleway/,
  NoAdoptPoolPrefix: /set --default-adopt-pool-prefix\./,
  Paused: /while it is paused: Cluster a\/b is paused, x\.$/,
  Reclaiming: /It is wiped and put back into the pool (tuist-pool-|other-)\./,
};

const table: [title: string, host: StrandedHost, policy: ReclaimPolicy, expected: string][] = [
  ['ours, without permission to reclaim', ours, reportOnly, 'ReportOnly'],
  [
    'ours, without permission to reclaim and without any pool',
    ours,
    { ...noPool, claimNamePrefix: undefined },
    'ReportOnly',
  ],
  ['ours, with an empty prefix', ours, { ...active, claimNamePrefix: '' }, 'ReportOnly'],
  ['an old pending claim, without permission to reclaim', pending(hour * 2), reportOnly, 'ReportOnly'],
  ['ours', ours, active, 'Reclaiming into tuist-pool-'],
  ['ours, with a pool of its own', { ...ours, poolPrefix: 'other-' }, active, 'Reclaiming into other-'],
  ['ours, with a pool of its own only', { ...ours, poolPrefix: 'other-' }, noPool, 'Reclaiming into other-'],
  ['ours, paused', { ...ours, pauses: ['Cluster a/b is paused', 'x'] }, active, 'Paused'],
  ['ours, paused, without permission to reclaim', { ...ours, pauses: ['x'] }, reportOnly, 'ReportOnly'],
  ['ours, without any pool', ours, noPool, 'NoAdoptPoolPrefix'],
  ['ours, with an empty pool', { ...ours, poolPrefix: '' }, { ...active, defaultPoolPrefix: '' }, 'NoAdoptPoolPrefix'],
  ['ours by its name, which is that of a machine', { ...ours, namesake: 'fleet/tuist-tuist-x' }, active, 'NotOurs'],
  [
    'that of a machine, without permission to reclaim',
    { ...ours, namesake: 'fleet/tuist-tuist-x' },
    reportOnly,
    'NotOurs',
  ],
  ['of a person', { ...ours, name: 'apple-silicon-romantic-x' }, active, 'NotOurs'],
  ['of another cluster', { ...ours, name: 'tuist-staging-x', hadHolder: true }, active, 'NotOurs'],
  ['never seen', { ...ours, name: undefined, hadHolder: true }, active, 'NotOurs'],
  ['the name of a free Mac', { ...ours, name: 'tuist-pool-1' }, active, 'NotOurs'],
  [
    'a pool name whose holder is gone',
    { ...ours, name: 'tuist-pool-1', hadHolder: true },
    active,
    'Reclaiming into tuist-pool-',
  ],
  ['a claim that has just begun', pending(0), active, 'ClaimPending'],
  ['a claim of unknown age', pending(undefined), active, 'ClaimPending'],
  ['a claim with no time', pending(Number.NaN), active, 'ClaimPending'],
  ['a claim of almost an hour', pending(hour - 1), active, 'ClaimPending'],
  ['a claim of an hour', pending(hour), active, 'Reclaiming into tuist-pool-'],
  ['an old claim without a pool', pending(hour), noPool, 'NoAdoptPoolPrefix'],
];

describe('strandedVerdict', () => {
  for (const [title, host, policy, expected] of table) {
    test(title, () => {
      const verdict = strandedVerdict(host, policy, now);
      const { reason, message } = verdict;
      assert.equal(verdict.kind === 'reclaim' ? `${reason} into ${verdict.poolPrefix}` : reason, expected);
      assert.equal(verdict.kind, reason === 'Reclaiming' ? 'reclaim' : 'leave');
      assert.ok(message.includes(host.name ?? 'not shown yet'), message);
      assert.match(message, messages[reason] ?? assert.fail(reason));
    });
  }

  const maybe = (arbitrary: fc.Arbitrary<string>) => fc.option(arbitrary, { nil: undefined });
  const prefix = maybe(fc.constantFrom('', 'tuist-pool-', 'tuist-tuist-', 'p'));
  const policies = fc.record({ claimNamePrefix: prefix, defaultPoolPrefix: prefix });
  const hosts = fc.record({
    name: maybe(fc.oneof(fc.string(), fc.constantFrom('tuist-tuist-1', 'tuist-pool-1', 'tuist-claim-pending-1'))),
    since: fc.option(fc.double(), { nil: undefined }),
    poolPrefix: prefix,
    hadHolder: fc.boolean(),
    pauses: fc.array(fc.constant('x'), { maxLength: 1 }),
  });

  test('is total, and never reclaims a Mac of others', () => {
    fc.assert(
      fc.property(hosts, policies, fc.double(), (host, policy, at) => {
        const verdict = strandedVerdict(host, policy, at);
        assert.ok(verdict.message.length > 0 && verdict.message.length < 1024 + (host.name?.length ?? 0));
        if (verdict.kind === 'leave') return;
        assert.deepEqual(host.pauses, []);
        assert.ok(policy.claimNamePrefix && host.name !== undefined && verdict.poolPrefix !== '');
        const isOld = at - (host.since ?? at) >= hour;
        assert.ok(
          host.name.startsWith(policy.claimNamePrefix) ||
            (host.name.startsWith('tuist-claim-pending-') && isOld) ||
            (host.hadHolder && host.name.startsWith(verdict.poolPrefix)),
        );
      }),
    );
  });
});
