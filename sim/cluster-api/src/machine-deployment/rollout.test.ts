import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { MachineDeployment } from '../kinds.ts';
import { type Plan, planOnDelete, planPaused, planRollingUpdate, type Rollout, type SetFacts } from './rollout.ts';

const wanting = (replicas: number, maxSurge: number | string, maxUnavailable: number | string): MachineDeployment => ({
  spec: { replicas, rollout: { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable } } } },
});
/** `3/2/1`: three desired, two existing, one available. */
const set = (text: string): SetFacts => {
  const [replicas = 0, existing = 0, available = 0] = text.split('/').map(Number);
  return { replicas, existing, available };
};
const rollout = (current: string, ...old: string[]): Rollout => ({ current: set(current), old: old.map(set) });

const table: [string, MachineDeployment, Rollout, Plan][] = [
  ['the first ones', wanting(3, 1, 0), rollout('0/0/0'), { current: 3, old: [] }],
  ['all is done', wanting(3, 1, 0), rollout('3/3/3', '0/0/0'), { current: 3, old: [0] }],
  ['fewer are wanted', wanting(1, 1, 0), rollout('3/3/3'), { current: 1, old: [] }],
  ['none are wanted', wanting(0, 1, 0), rollout('2/2/2'), { current: 0, old: [] }],
  ['a surge begins a roll', wanting(2, 1, 0), rollout('0/0/0', '2/2/2'), { current: 1, old: [2] }],
  ['the surged one is not available yet', wanting(2, 1, 0), rollout('1/1/0', '2/2/2'), { current: 1, old: [2] }],
  ['the surged one is available', wanting(2, 1, 0), rollout('1/1/1', '2/2/2'), { current: 1, old: [1] }],
  ['an old one goes, and is still there', wanting(2, 1, 0), rollout('1/1/1', '1/2/2'), { current: 1, old: [1] }],
  ['an old one is gone', wanting(2, 1, 0), rollout('1/1/1', '1/1/1'), { current: 2, old: [1] }],
  ['without a surge an old one goes first', wanting(3, 0, 1), rollout('0/0/0', '3/3/3'), { current: 0, old: [2] }],
  ['nothing comes before it is gone', wanting(3, 0, 1), rollout('0/0/0', '2/3/3'), { current: 0, old: [2] }],
  ['its place is taken', wanting(3, 0, 1), rollout('0/0/0', '2/2/2'), { current: 1, old: [2] }],
  ['the next one waits for it', wanting(3, 0, 1), rollout('1/1/0', '2/2/2'), { current: 1, old: [2] }],
  [
    'one that is not available goes first',
    wanting(2, 0, 1),
    rollout('0/0/0', '1/1/1', '1/1/0'),
    { current: 0, old: [1, 0] },
  ],
  ['one that never came costs nothing', wanting(3, 0, 1), rollout('0/0/0', '3/3/2'), { current: 0, old: [2] }],
  ['both zero means one unavailable', wanting(2, 0, 0), rollout('0/0/0', '2/2/2'), { current: 0, old: [1] }],
  ['percents', wanting(4, '25%', '50%'), rollout('0/0/0', '4/4/4'), { current: 1, old: [2] }],
  ['a deadlock is broken', wanting(3, 1, 0), rollout('1/1/1', '3/3/1'), { current: 1, old: [2] }],
];

describe('a rolling update', () => {
  for (const [name, deployment, facts, plan] of table)
    it(name, () => {
      assert.deepEqual(planRollingUpdate(deployment, facts), plan);
    });

  const sets = fc
    .tuple(fc.nat(6), fc.nat(6), fc.nat(6))
    .map(
      ([replicas, existing, available]): SetFacts => ({ replicas, existing, available: Math.min(existing, available) }),
    );
  const machineSets = fc.record({ current: sets, old: fc.array(sets, { maxLength: 3 }) });

  it('is total: never above maxSurge, no negative number, no growth of an old MachineSet', () => {
    fc.assert(
      fc.property(fc.nat(6), fc.nat(2), fc.nat(2), machineSets, (replicas, surge, unavailable, sets) => {
        const plan = planRollingUpdate(wanting(replicas, surge, unavailable), sets);
        const total = (count: (facts: SetFacts) => number): number =>
          [sets.current, ...sets.old].reduce((sum, facts) => sum + count(facts), 0);
        assert.ok(plan.current >= 0 && plan.current <= replicas);
        plan.old.forEach((count, index) => assert.ok(count >= 0 && count <= (sets.old[index]?.replicas ?? 0)));
        const added = Math.max(plan.current - sets.current.replicas, 0);
        const before = total((facts) => Math.max(facts.replicas, facts.existing));
        if (added > 0) assert.ok(before + added <= replicas + surge);
      }),
    );
  });

  it('deletes no available Machine of an old MachineSet beyond maxUnavailable', () => {
    const whole = fc.nat(6).map((count): SetFacts => ({ replicas: count, existing: count, available: count }));
    fc.assert(
      fc.property(
        fc.nat(6),
        fc.nat(2),
        fc.nat(2),
        whole,
        fc.array(whole, { maxLength: 3 }),
        (replicas, surge, gap, current, old) => {
          const plan = planRollingUpdate(wanting(replicas, surge, gap), { current, old });
          const available = [current, ...old].reduce((sum, facts) => sum + facts.available, 0);
          const taken = old.reduce((sum, facts, index) => sum + facts.replicas - (plan.old[index] ?? 0), 0);
          const mayMiss = surge === 0 && gap === 0 ? 1 : gap;
          assert.ok(taken === 0 || available - taken >= Math.max(replicas - mayMiss, 0));
        },
      ),
    );
  });
});

describe('the OnDelete strategy', () => {
  const byHand = (replicas: number): MachineDeployment => ({
    spec: { replicas, rollout: { strategy: { type: 'OnDelete' } } },
  });
  const rows: [string, number, Rollout, Plan][] = [
    ['leaves old Machines alone', 2, rollout('0/0/0', '2/2/2'), { current: 0, old: [2] }],
    ['waits while one goes', 2, rollout('0/0/0', '2/2/1'), { current: 0, old: [2] }],
    ['forgets one that is gone', 2, rollout('0/0/0', '2/1/1'), { current: 0, old: [1] }],
    ['replaces what was forgotten', 2, rollout('0/0/0', '1/1/1'), { current: 1, old: [1] }],
    ['shrinks old sets first', 1, rollout('1/1/1', '1/1/1'), { current: 1, old: [0] }],
  ];
  for (const [name, replicas, facts, plan] of rows)
    it(name, () => {
      assert.deepEqual(planOnDelete(byHand(replicas), facts), plan);
    });
});

describe('a paused MachineDeployment', () => {
  const rows: [string, number, SetFacts | undefined, string[], { current: number | undefined; old: number[] }][] = [
    ['scales the only set', 3, set('1/1/1'), [], { current: 3, old: [] }],
    ['scales the old set, which has the Machines', 3, set('0/0/0'), ['1/1/1'], { current: 0, old: [3] }],
    ['leaves two that both have Machines', 3, set('1/1/1'), ['1/1/1'], { current: 1, old: [1] }],
    ['scales the newest when none has any', 3, undefined, ['0/0/0', '0/0/0'], { current: undefined, old: [0, 3] }],
    ['has nothing to scale', 3, undefined, [], { current: undefined, old: [] }],
  ];
  for (const [name, replicas, current, old, plan] of rows)
    it(name, () => {
      assert.deepEqual(planPaused({ spec: { replicas } }, { current, old: old.map(set) }), plan);
    });
});
