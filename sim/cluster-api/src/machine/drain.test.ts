import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { MachineDrainRule } from '../kinds.ts';
import { annotations, labels } from '../names.ts';
import { type DrainFacts, drainMessage, isDrained, planDrain, type Pod } from './drain.ts';

const now = Date.parse('2026-01-01T00:10:00Z');
const pod = (name: string, metadata: object = {}, phase = 'Running'): Pod =>
  ({ metadata: { namespace: 'n', name, ...metadata }, status: { phase } }) as Pod;
const ownedBy = (kind: string) => ({
  ownerReferences: [{ apiVersion: 'apps/v1', kind, name: 'owner', uid: 'u', controller: true }],
});
const terminatingFor = (seconds: number) => ({ deletionTimestamp: new Date(now - seconds * 1000).toISOString() });
const rule = (name: string, spec: MachineDrainRule['spec']): MachineDrainRule => ({
  metadata: { name },
  ...(spec && { spec }),
});

const usual: DrainFacts = {
  machineLabels: { fleet: 'a' },
  clusterLabels: { tier: 'one' },
  rules: [],
  namespaceLabels: new Map([['n', { team: 'ci' }]]),
  daemonSets: new Set(['n/owner']),
  unreachable: false,
  now,
};

/** `evict: a; waitCompleted: b`, whatever is not empty. */
const formatPlan = (pods: readonly Pod[], facts: Partial<DrainFacts> = {}): string =>
  Object.entries(planDrain(pods, { ...usual, ...facts }))
    .filter(([, keys]: [string, string[]]) => keys.length > 0)
    .map(([what, keys]: [string, string[]]) => `${what}: ${keys.map((key) => key.split('/')[1]).join(' ')}`)
    .join('; ');

const waits = rule('wait', {
  drain: { behavior: 'WaitCompleted' },
  pods: [{ selector: { matchLabels: { job: 'yes' } } }],
});
const job = { labels: { job: 'yes' } };

const table: [string, readonly Pod[], Partial<DrainFacts>, string][] = [
  ['an ordinary Pod', [pod('a')], {}, 'evict: a'],
  ['one that goes already', [pod('a', terminatingFor(5))], {}, 'terminating: a'],
  ['a terminating Pod on an unreachable Node', [pod('a', terminatingFor(5))], { unreachable: true }, ''],
  ['one that has just begun to go there', [pod('a', terminatingFor(1))], { unreachable: true }, 'terminating: a'],
  ['one of a DaemonSet', [pod('a', ownedBy('DaemonSet'))], {}, ''],
  ['one of a DaemonSet that is over', [pod('a', ownedBy('DaemonSet'), 'Failed')], {}, 'evict: a'],
  ['one of a DaemonSet that is gone', [pod('a', ownedBy('DaemonSet'))], { daemonSets: new Set() }, 'evict: a'],
  ['one of a Job', [pod('a', ownedBy('Job'))], {}, 'evict: a'],
  ['a static one', [pod('a', { annotations: { [annotations.mirrorPod]: 'x' } })], {}, ''],
  ['one that is to be left', [pod('a', { labels: { [labels.drain]: 'skip' } })], {}, ''],
  ['one to wait for', [pod('a', { labels: { [labels.drain]: 'wait-completed' } })], {}, 'waitCompleted: a'],
  ['the same, written otherwise', [pod('a', { labels: { [labels.drain]: 'WaitCompleted' } })], {}, 'waitCompleted: a'],
  [
    'one to wait for that has succeeded',
    [pod('a', { labels: { [labels.drain]: 'wait-completed' } }, 'Succeeded')],
    {},
    'waitCompleted: a',
  ],
  ['a label that nobody knows', [pod('a', { labels: { [labels.drain]: 'later' } })], {}, 'evict: a'],
  ['a rule that is for it', [pod('a', job), pod('b')], { rules: [waits] }, 'evict: b; waitCompleted: a'],
  [
    'its own label before a rule',
    [pod('a', { labels: { job: 'yes', [labels.drain]: 'skip' } })],
    { rules: [waits] },
    '',
  ],
  [
    'a rule for Machines of another fleet',
    [pod('a', job)],
    {
      rules: [rule('x', { ...waits.spec, machines: [{ selector: { matchLabels: { fleet: 'b' } } }] })],
    },
    'evict: a',
  ],
  [
    'a rule for Machines of this Cluster',
    [pod('a', job)],
    {
      rules: [rule('x', { ...waits.spec, machines: [{ clusterSelector: { matchLabels: { tier: 'one' } } }] })],
    },
    'waitCompleted: a',
  ],
  [
    'a rule for another namespace',
    [pod('a', job)],
    {
      rules: [
        rule('x', { drain: { behavior: 'Skip' }, pods: [{ namespaceSelector: { matchLabels: { team: 'web' } } }] }),
      ],
    },
    'evict: a',
  ],
  [
    'of two rules the first by name',
    [pod('a', job)],
    { rules: [waits, rule('a', { drain: { behavior: 'Skip' } })] },
    '',
  ],
  [
    'an order',
    [pod('a', job), pod('b')],
    {
      rules: [
        rule('x', { drain: { behavior: 'Drain', order: 5 }, pods: [{ selector: { matchLabels: { job: 'yes' } } }] }),
      ],
    },
    'evict: b; evictLater: a',
  ],
  [
    'those that are waited for come first',
    [pod('a', job), pod('b', { labels: { late: 'yes' } })],
    {
      rules: [
        waits,
        rule('x', { drain: { behavior: 'Drain', order: 5 }, pods: [{ selector: { matchLabels: { late: 'yes' } } }] }),
      ],
    },
    'evictLater: b; waitCompleted: a',
  ],
];

describe('a drain', () => {
  for (const [name, pods, facts, plan] of table)
    it(`${name}: ${plan || 'nothing to do'}`, () => {
      assert.equal(formatPlan(pods, facts), plan);
    });

  it('of a Node without Pods is complete', () => {
    assert.ok(isDrained(planDrain([], usual)));
  });

  it('is total, and evicts no Pod with WaitCompleted', () => {
    const any = fc.record({
      label: fc.constantFrom(undefined, 'skip', 'wait-completed', 'x'),
      order: fc.integer({ min: -2, max: 2 }),
      behavior: fc.constantFrom('Drain' as const, 'Skip' as const, 'WaitCompleted' as const),
      terminating: fc.boolean(),
      unreachable: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(any, { maxLength: 4 }), (all) => {
        const pods = all.map(({ label, terminating }, index) =>
          pod(String(index), {
            labels: { at: String(index), ...(label && { [labels.drain]: label }) },
            ...(terminating && terminatingFor(3)),
          }),
        );
        const rules = all.map(({ behavior, order }, index) =>
          rule(String(index), {
            drain: { behavior, order },
            pods: [{ selector: { matchLabels: { at: String(index) } } }],
          }),
        );
        const plan = planDrain(pods, { ...usual, rules });
        const named = Object.values(plan).flat();
        assert.equal(new Set(named).size, named.length);
        all.forEach(({ label, behavior }, index) => {
          const isWaitedFor = label === 'wait-completed' || (label !== 'skip' && behavior === 'WaitCompleted');
          if (isWaitedFor) assert.ok(!plan.evict.includes(`n/${index}`) && !plan.evictLater.includes(`n/${index}`));
        });
        assert.equal(isDrained(plan), named.length === 0);
      }),
    );
  });

  it('lists the Pods that it waits for, at most three by name', () => {
    const pods = ['a', 'b', 'c', 'd'].map((name) => pod(name, { labels: { [labels.drain]: 'wait-completed' } }));
    const plan = planDrain([...pods, pod('e')], usual);
    assert.equal(
      drainMessage(plan, 'noon', new Map([['n/e', 'a budget forbids it']])),
      'Drain not completed yet (started at noon):\n* Pod n/e: failed to evict Pod, a budget forbids it\n* Pods n/a, n/b, n/c, … (1 more): waiting for completion',
    );
  });
});
