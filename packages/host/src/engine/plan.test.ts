import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import type { HostSpec } from '../host-spec.ts';
import { hostSteps, preparationSteps } from '../steps/index.ts';
import { exampleInventory } from '../testing/example-inventory.ts';
import { exampleSpec } from '../testing/example-spec.ts';
import { fakeStep } from '../testing/fake-step.ts';
import { garbageOn, plan, type PlanOptions } from './plan.ts';
import { type Stamps, stepHash } from './step-hash.ts';

describe('the plan for a host', () => {
  let folder: string;
  let spec: HostSpec;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'tartan-plan-'));
    spec = exampleSpec(folder);
  });
  after(() => rmSync(folder, { recursive: true }));

  const tart = fakeStep('tart', { needsIdle: true, artifact: () => spec.tart });
  const network = fakeStep('network', { restartsTransport: 'tailnet' });
  const tools = fakeStep('tools', { optional: true });
  const root = fakeStep('root', { unprivileged: true });
  const steps = [tools, tart, network, root];
  const options: PlanOptions = { mode: 'changed', idle: true, transport: 'public', steps };
  const stamps = (...those: (typeof tart)[]): Record<string, string> =>
    Object.fromEntries(those.map((step) => [step.name, stepHash(step, spec)]));
  const names = (actions: ReturnType<typeof plan>): string[] => actions.map(({ step }) => step.name);

  test('for a fresh host is every step: first those that give us root, optional ones last, else as listed', () => {
    assert.deepEqual(names(plan(exampleInventory(), spec, options)), ['root', 'tart', 'network', 'tools']);
  });

  test('for a host that is up to date is empty', () => {
    assert.deepEqual(plan(exampleInventory({ stamps: stamps(...steps) }), spec, options), []);
  });

  test('has exactly the steps whose stamp is missing or different', () => {
    const inventory = exampleInventory({ stamps: { ...stamps(tart, root), network: 'of last week', gone: 'x' } });
    assert.deepEqual(names(plan(inventory, spec, options)), ['network', 'tools']);
  });

  test('to verify has every step, and marks those that the host has stamped', () => {
    const actions = plan(exampleInventory({ stamps: stamps(tart) }), spec, { ...options, mode: 'verify' });
    assert.deepEqual(
      actions.map(({ step, stamped }) => [step.name, stamped]),
      [
        ['root', false],
        ['tart', true],
        ['network', false],
        ['tools', false],
      ],
    );
  });

  const obstacles = [
    { idle: true, transport: 'public', tart: undefined, network: undefined },
    { idle: false, transport: 'public', tart: 'the host is not idle', network: undefined },
    { idle: true, transport: 'tailnet', tart: undefined, network: 'the connection runs over it' },
    { idle: false, transport: 'tailnet', tart: 'the host is not idle', network: 'the connection runs over it' },
  ] as const;
  for (const { idle, transport, ...expected } of obstacles) {
    test(`over the ${transport} network to ${idle ? 'an idle' : 'a busy'} host changes only what is allowed`, () => {
      const actions = plan(exampleInventory(), spec, { ...options, idle, transport });
      const found = Object.fromEntries(actions.map(({ step, deferReason }) => [step.name, deferReason]));
      assert.deepEqual(found, { root: undefined, tools: undefined, ...expected });
    });
  }

  test('sends nothing for a step that may not change anything', () => {
    const needs = (idle: boolean): unknown => plan(exampleInventory(), spec, { ...options, idle })[1]?.needs;
    assert.deepEqual(needs(true), [spec.tart]);
    assert.deepEqual(needs(false), []);
  });

  test('is total: for any inventory, every step is planned once or has its stamp', () => {
    const wanted = Object.fromEntries(hostSteps.map((step) => [step.name, stepHash(step, spec)]));
    const stampsOf = fc.record(
      Object.fromEntries(
        hostSteps.map(({ name }) => [name, fc.oneof(fc.constant(wanted[name] ?? ''), fc.string(), fc.constant(''))]),
      ),
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(
        stampsOf,
        fc.constantFrom('changed', 'verify'),
        fc.boolean(),
        fc.constantFrom('public', 'tailnet'),
        (reported, mode, idle, transport) => {
          const actions = plan(exampleInventory({ stamps: reported as Stamps }), spec, { mode, idle, transport });
          const planned = new Set(names(actions));
          assert.equal(planned.size, actions.length);
          for (const { name } of hostSteps) {
            assert.ok(planned.has(name) !== (mode === 'changed' && reported[name] === wanted[name]), name);
          }
        },
      ),
      { numRuns: 30 },
    );
  });
});

describe('the garbage on a host', () => {
  test('is artifacts that no step needs, stamps of unknown steps, and a reboot that has happened', () => {
    const folder = mkdtempSync(join(tmpdir(), 'tartan-plan-'));
    try {
      const spec = exampleSpec(folder);
      const steps = [fakeStep('tart', { artifact: () => spec.tart })];
      const inventory = exampleInventory({
        artifacts: new Set([spec.tart.sha256, 'old']),
        stamps: { tart: 'anything', gone: 'x' },
        rebootPendingSince: 'boot-0',
      });
      assert.deepEqual(garbageOn(inventory, spec, steps), {
        artifacts: ['old'],
        stamps: ['gone'],
        staleRebootMark: true,
      });
      const pending = exampleInventory({ rebootPendingSince: 'boot-1' });
      assert.deepEqual(garbageOn(pending, spec, steps), { artifacts: [], stamps: [], staleRebootMark: false });
      assert.equal(garbageOn(exampleInventory(), spec, steps).staleRebootMark, false);
      assert.deepEqual(garbageOn(inventory, spec).artifacts, ['old']);
      assert.deepEqual(garbageOn(inventory, spec, [...steps, ...preparationSteps]).artifacts, ['old']);
      // A preparation does not know the steps of a Node.
      const part = { artifacts: [], stamps: [], staleRebootMark: true };
      assert.deepEqual(garbageOn(inventory, { user: 'm1' }, preparationSteps), part);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
