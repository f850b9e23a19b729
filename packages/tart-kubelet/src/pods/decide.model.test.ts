import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { finalizers } from '@tartan/api';
import fc from 'fast-check';
import type { VmRecord } from '../journal/journal.ts';
import { decide, type Decision } from './decide.ts';
import type { LastRun, Snapshot } from './snapshot.ts';
import { exampleNow, examplePod, exampleRecord, neverStarted } from './testing/example.ts';

/** A model of a Mac and a server in a few variables, to run the decisions against crashes at any point. */
const createModel = (restartPolicy: 'Always' | 'OnFailure' | 'Never') => {
  let now = exampleNow;
  const pod = examplePod((fresh) => {
    delete fresh.metadata.finalizers;
    if (fresh.spec) fresh.spec.restartPolicy = restartPolicy;
  });
  let goneSince: number | undefined;
  let record: VmRecord | undefined;
  let vm: Snapshot['vm'] = { kind: 'missing' };
  let lastRun: LastRun = neverStarted;
  let slotsOfOthers = 0;
  let pid = 1;
  /** The disk was used by a run. */
  let dirty = false;
  const boots = new Map<number, number>();
  let hasEnded = false;

  const presentPod = () => (goneSince === undefined ? pod : assert.fail('the Pod is gone'));
  const snapshot = (): Snapshot => ({
    now,
    pod: goneSince === undefined ? pod : { notFoundForMs: now - goneSince },
    record,
    vm,
    image: { kind: 'here', digest: 'sha256:1' },
    lastRun,
    slots: { total: 2, usedByOthers: slotsOfOthers },
  });
  const journal = (state: VmRecord['state'], more: Partial<VmRecord> = {}): void => {
    record = exampleRecord(state, { ...record, ...more, state });
  };
  const cutPower = (ending: LastRun['ending']): void => {
    if (vm.kind !== 'running') return;
    vm = { kind: 'stopped' };
    lastRun = { started: true, ending };
  };

  /** The side effects of a decision, in order: the agent can crash between any two of them. */
  const effectsOf = (decision: Decision): (() => void)[] => {
    switch (decision.kind) {
      case 'none':
      case 'wait':
      case 'ignore':
      case 'wait for address':
      case 'wait for shutdown':
      case 'pull':
        return [];
      case 'reject':
        return [() => void (presentPod().status = { phase: 'Failed' })];
      case 'add finalizer':
        return [() => void (presentPod().metadata.finalizers = [finalizers.vmCleanup])];
      case 'clone':
        return [
          () => {
            assert.deepEqual(
              presentPod().metadata.finalizers,
              [finalizers.vmCleanup],
              'cloned without a finalizer (INC-15)',
            );
            journal({ kind: 'cloning' });
          },
          () => {
            assert.equal(vm.kind, 'missing', 'cloned onto a name that is taken (INC-429)');
            vm = { kind: 'stopped' };
            dirty = false;
            lastRun = neverStarted;
          },
        ];
      case 'configure':
        return [() => {}, () => journal({ kind: 'configured' })];
      case 'boot':
        return [
          () => journal({ kind: 'starting', at: now }),
          () => {
            assert.equal(vm.kind, 'stopped');
            assert.ok(!dirty, 'booted from a dirty disk (INC-407)');
            assert.deepEqual(
              presentPod().metadata.finalizers,
              [finalizers.vmCleanup],
              'booted without a finalizer (INC-15)',
            );
            assert.ok(slotsOfOthers < 2, 'booted without a slot');
            const run = record?.run ?? 0;
            boots.set(run, (boots.get(run) ?? 0) + 1);
            pid += 1;
            vm = { kind: 'running', process: { pid, startedAt: now } };
            dirty = true;
            lastRun = { started: true, ending: { kind: 'unknown' } };
          },
          () => {
            if (vm.kind === 'running') journal({ kind: 'running', process: vm.process, since: now });
          },
        ];
      case 'adopt':
        return [() => journal({ kind: 'running', process: decision.process, since: now })];
      case 'running':
        return [() => void (presentPod().status = { phase: 'Running' })];
      case 'stop gracefully':
        return [() => record && journal(record.state, { stopRequestedAt: record.stopRequestedAt ?? now })];
      case 'force stop':
        return [() => cutPower({ kind: 'stopped' })];
      case 'undo start':
        return [
          () => record?.state.kind === 'running' && journal({ kind: 'starting', at: record.state.since }),
          () => void (lastRun = neverStarted),
          () => journal({ kind: 'configured' }),
        ];
      case 'end':
        return [
          () => {
            hasEnded = true;
            journal({ kind: 'ended', ending: decision.ending });
          },
        ];
      case 'restart':
        return [
          () => {
            record = exampleRecord({ kind: 'cloning' }, { run: decision.run, previous: decision.previous });
            lastRun = neverStarted;
          },
        ];
      case 'delete VM':
        return [
          () => {
            assert.equal(vm.kind, 'stopped', 'deleted a VM that is on');
            vm = { kind: 'missing' };
          },
        ];
      case 'write final status':
        return [() => void (presentPod().status = { phase: decision.ending.exitCode === 0 ? 'Succeeded' : 'Failed' })];
      case 'remove finalizer':
        return [
          () => {
            assert.equal(vm.kind, 'missing', 'released a Pod that has a VM');
            delete presentPod().metadata.finalizers;
          },
        ];
      case 'delete Pod':
        return [() => void (goneSince = now)];
      case 'delete record':
        return [() => void (record = undefined)];
    }
  };

  return {
    /** One reconcile; the agent crashes after that many of its side effects. */
    pass: (survives = Number.POSITIVE_INFINITY): Decision => {
      const decision = decide(snapshot());
      for (const effect of effectsOf(decision).slice(0, survives)) effect();
      return decision;
    },
    halt: () => cutPower({ kind: 'halted' }),
    crash: () => cutPower({ kind: 'crashed', message: 'due to error' }),
    lease: () => {
      if (vm.kind === 'running') vm = { ...vm, address: '192.168.64.2' };
    },
    wait: (milliseconds: number) => void (now += milliseconds),
    fill: (count: number) => void (slotsOfOthers = count),
    /** `kubectl delete pod`. */
    remove: (): void => {
      if (goneSince !== undefined || pod.metadata.deletionTimestamp !== undefined) return;
      pod.metadata.deletionTimestamp = new Date(now).toISOString();
      pod.metadata.deletionGracePeriodSeconds = 30;
    },
    /** Another client removes the finalizer and forces the deletion. */
    vanish: () => {
      goneSince ??= now;
    },
    facts: () => ({
      isGone: goneSince !== undefined,
      phase: pod.status?.phase ?? '',
      record,
      vm,
      boots,
      everEnded: hasEnded,
    }),
  };
};

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

/** The agent runs and time passes without interference. */
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
