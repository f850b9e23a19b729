import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { decideRollout, type RolloutStep, type RolloutFacts, type SetFacts } from './rollout.ts';

const set = (name: string, replicas: number, available = replicas, more: Partial<SetFacts> = {}): SetFacts => ({
  name,
  replicas,
  available,
  desired: 4,
  max: 5,
  ...more,
});

const facts = (more: Partial<RolloutFacts> = {}): RolloutFacts => ({
  replicas: 4,
  recreate: false,
  paused: false,
  limits: { maxSurge: 1, maxUnavailable: 1 },
  current: undefined,
  old: [],
  oldPodsRun: false,
  ...more,
});

const shown = (step: RolloutStep): string => {
  switch (step.kind) {
    case 'none':
      return 'none';
    case 'create':
      return `create ${step.replicas}`;
    case 'scale':
      return [...step.sizes].map(([name, size]) => `${name} ${size}`).join(', ');
  }
};

const table: [what: string, given: RolloutFacts, expected: string][] = [
  ['the first set gets all', facts(), 'create 4'],
  ['a new template gets as much as the surge allows', facts({ old: [set('a', 4)] }), 'create 1'],
  ['old Pods make room', facts({ current: set('b', 1, 0), old: [set('a', 4)] }), 'a 3'],
  ['the new set takes the room', facts({ current: set('b', 1, 0), old: [set('a', 3)] }), 'b 2'],
  ['nothing moves while too few are available', facts({ current: set('b', 2, 0), old: [set('a', 3)] }), 'none'],
  [
    'of the old ones those go first that are not available',
    facts({ current: set('b', 1, 0), old: [set('z', 1, 0), set('a', 3)] }),
    'z 0',
  ],
  [
    'old Pods that are not available stay while the new ones are not either',
    facts({ current: set('b', 2, 0), old: [set('a', 3, 2)] }),
    'none',
  ],
  ['the last old one goes', facts({ current: set('b', 4), old: [set('a', 1)] }), 'a 0'],
  ['a finished roll stays', facts({ current: set('b', 4), old: [set('a', 0)] }), 'none'],
  [
    'without surge old ones go first',
    facts({ limits: { maxSurge: 0, maxUnavailable: 2 }, old: [set('a', 4)] }),
    'create 0',
  ],
  [
    'and the new ones follow',
    facts({ limits: { maxSurge: 0, maxUnavailable: 2 }, current: set('b', 0), old: [set('a', 2)] }),
    'b 2',
  ],
  [
    'nothing is wanted',
    facts({ replicas: 0, current: set('b', 0, 0, { desired: 0 }), old: [set('a', 2, 2, { desired: 0 })] }),
    'a 0',
  ],
  ['recreate empties the old ones', facts({ recreate: true, old: [set('a', 4)] }), 'a 0'],
  ['recreate waits for their Pods', facts({ recreate: true, old: [set('a', 0)], oldPodsRun: true }), 'none'],
  ['recreate begins anew', facts({ recreate: true, old: [set('a', 0)] }), 'create 4'],
  ['recreate brings an old set back', facts({ recreate: true, current: set('b', 0, 0), old: [set('a', 0)] }), 'b 4'],
  ['paused, there is no new set', facts({ paused: true, old: [set('a', 4)] }), 'none'],
  ['paused, a new number counts', facts({ paused: true, replicas: 6, old: [set('a', 4)] }), 'a 6'],
  ['paused and empty, the newest one grows', facts({ paused: true, old: [set('z', 0), set('a', 0)] }), 'a 4'],
  ['a new number of a settled Deployment', facts({ replicas: 6, current: set('b', 4) }), 'b 6'],
  [
    'new replicas during a rollout are distributed proportionally',
    facts({ replicas: 8, limits: { maxSurge: 2, maxUnavailable: 2 }, current: set('b', 2, 0), old: [set('a', 3)] }),
    'a 6, b 4',
  ],
  ['a smaller one too', facts({ replicas: 2, current: set('b', 2, 0), old: [set('a', 3)] }), 'a 2, b 1'],
  [
    'a set that has all and is available needs no old ones',
    facts({ replicas: 4, current: set('b', 4), old: [set('a', 2, 2, { desired: 9 })] }),
    'a 0',
  ],
];

describe('a rollout', () => {
  for (const [what, given, expected] of table) it(what, () => assert.equal(shown(decideRollout(given)), expected));

  const size = fc.nat(6);
  const anySet = (name: string) =>
    fc
      .record({
        replicas: size,
        available: size,
        desired: fc.option(size, { nil: undefined }),
        max: fc.option(size, { nil: undefined }),
      })
      .map((each) => ({ name, ...each, available: Math.min(each.replicas, each.available) }));
  const anyFacts = fc.record({
    replicas: size,
    recreate: fc.boolean(),
    paused: fc.boolean(),
    limits: fc.record({ maxSurge: size, maxUnavailable: size }),
    current: fc.option(anySet('current'), { nil: undefined }),
    old: fc.tuple(anySet('one'), anySet('two')),
    oldPodsRun: fc.boolean(),
  });

  it('has a decision for any state, with valid sizes', () => {
    fc.assert(
      fc.property(anyFacts, (given) => {
        const step = decideRollout(given);
        if (step.kind === 'create') assert.ok(step.replicas >= 0);
        if (step.kind === 'scale') for (const each of step.sizes.values()) assert.ok(each >= 0, shown(step));
      }),
      { numRuns: 2000 },
    );
  });

  it('ends with all Pods new, and never exceeds its limits', () => {
    const limits = fc
      .record({ maxSurge: fc.nat(3), maxUnavailable: fc.nat(3) })
      .filter(({ maxSurge, maxUnavailable }) => maxSurge + maxUnavailable > 0);
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 8 }),
        limits,
        fc.infiniteStream(fc.boolean()),
        (replicas, allowed, random) => {
          const limits = { ...allowed, maxUnavailable: Math.min(allowed.maxUnavailable, replicas) };
          const counted = { desired: replicas, max: replicas + limits.maxSurge };
          const sets = new Map([['old', set('old', replicas, replicas, counted)]]);
          const total = (count: (each: SetFacts) => number): number =>
            [...sets.values()].reduce((sum, each) => sum + count(each), 0);
          for (let turn = 0; turn < 300; turn++) {
            const step = decideRollout(
              facts({ replicas, limits, current: sets.get('new'), old: [sets.get('old') ?? assert.fail()] }),
            );
            if (step.kind === 'create') sets.set('new', set('new', step.replicas, 0, counted));
            if (step.kind === 'scale')
              for (const [name, wanted] of step.sizes) {
                const before = sets.get(name) ?? assert.fail();
                sets.set(name, {
                  ...before,
                  ...counted,
                  replicas: wanted,
                  available: Math.min(before.available, wanted),
                });
              }
            assert.ok(total((each) => each.replicas) <= replicas + limits.maxSurge, 'too many');
            assert.ok(total((each) => each.available) >= replicas - limits.maxUnavailable, 'too few');
            const fresh = sets.get('new');
            if (fresh && fresh.available < fresh.replicas && random.next().value === true)
              sets.set('new', { ...fresh, available: fresh.available + 1 });
          }
          assert.deepEqual(
            [...sets.values()].map(({ name, replicas: count, available }) => [name, count, available]),
            [
              ['old', 0, 0],
              ['new', replicas, replicas],
            ],
          );
        },
      ),
      { numRuns: 200 },
    );
  });
});
