import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { createModel } from './testing/model.ts';

const step = fc.oneof(
  { weight: 8, arbitrary: fc.constant({ kind: 'pass' as const }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('dies' as const), after: fc.nat({ max: 2 }) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('fill' as const), count: fc.nat({ max: 2 }) }) },
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      { kind: 'halt' as const },
      { kind: 'crash' as const },
      { kind: 'lease' as const },
      { kind: 'wait' as const },
    ),
  },
  { weight: 1, arbitrary: fc.constantFrom({ kind: 'remove' as const }, { kind: 'vanish' as const }) },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;
const scenario = fc.array(step, { maxLength: 60 });
const policy = fc.constantFrom('Always' as const, 'OnFailure' as const, 'Never' as const);

const trace = (restartPolicy: Parameters<typeof createModel>[0], steps: readonly Step[]) => {
  const model = createModel(restartPolicy);
  for (const one of steps)
    switch (one.kind) {
      case 'pass':
        model.pass();
        break;
      case 'dies':
        model.pass(one.after);
        break;
      case 'fill':
        model.fill(one.count);
        break;
      case 'wait':
        model.wait(40_000);
        break;
      case 'halt':
      case 'crash':
      case 'lease':
      case 'remove':
      case 'vanish':
        model[one.kind]();
    }
  return model;
};

/** The agent lives, time goes by, and nobody interferes. */
const settle = (model: ReturnType<typeof createModel>, passes = 40): void => {
  for (let pass = 0; pass < passes; pass += 1) {
    model.pass();
    model.wait(20_000);
  }
};

describe('decide, with the agent crashing at any point', () => {
  it('each run boots at most once, from a clean disk; restartPolicy Never boots once', () => {
    fc.assert(
      fc.property(policy, scenario, (restartPolicy, steps) => {
        const { boots } = trace(restartPolicy, steps).facts();
        for (const [run, count] of boots) assert.ok(count <= 1, `run ${run} was booted ${count} times`);
        if (restartPolicy === 'Never') assert.ok(boots.size <= 1);
      }),
      { numRuns: 2000 },
    );
  });

  it('deletion always removes the VM, the finalizer, the Pod and the record', () => {
    fc.assert(
      fc.property(policy, scenario, (restartPolicy, steps) => {
        const model = trace(restartPolicy, steps);
        model.remove();
        settle(model);
        const { isGone, record, vm } = model.facts();
        assert.ok(isGone, 'the Pod is still there');
        assert.deepEqual({ record, vm }, { record: undefined, vm: { kind: 'missing' } });
      }),
      { numRuns: 1000 },
    );
  });

  it('a Pod that vanished leaves no VM and no record, so that no slot is lost (INC-405)', () => {
    fc.assert(
      fc.property(policy, scenario, (restartPolicy, steps) => {
        const model = trace(restartPolicy, steps);
        model.vanish();
        settle(model);
        const { record, vm } = model.facts();
        assert.deepEqual({ record, vm }, { record: undefined, vm: { kind: 'missing' } });
      }),
      { numRuns: 1000 },
    );
  });

  it('a Pod with restartPolicy Never always reaches Running or a terminal phase', () => {
    fc.assert(
      fc.property(scenario, (steps) => {
        const model = trace('Never', steps);
        model.fill(0);
        model.lease();
        settle(model);
        model.lease();
        settle(model);
        const { isGone, phase, vm, everEnded } = model.facts();
        if (isGone) return;
        assert.ok(vm.kind === 'running' ? phase === 'Running' : everEnded && /Succeeded|Failed/.test(phase), phase);
      }),
      { numRuns: 1000 },
    );
  });
});
