import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { HostSpec } from '../host-spec.ts';
import { exampleInventory } from '../testing/example-inventory.ts';
import { exampleSpec } from '../testing/example-spec.ts';
import { fakeStep } from '../testing/fake-step.ts';
import type { Inventory } from './inventory.ts';
import { plan } from './plan.ts';
import { preflight, type PreflightFailure } from './preflight.ts';

describe('preflight: a host', () => {
  let folder: string;
  let spec: HostSpec;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'tartan-flight-'));
    spec = exampleSpec(folder);
  });
  after(() => rmSync(folder, { recursive: true }));

  const objectionsTo = (overrides: Partial<Inventory>, now = 1_800_000_000_000): PreflightFailure[] => {
    const inventory = exampleInventory(overrides);
    const tart = { ...spec.tart, size: 1024 ** 3 };
    const steps = [fakeStep('tart', { artifact: () => tart })];
    return preflight(inventory, spec, plan(inventory, spec, { mode: 'changed', idle: true, steps }), now);
  };

  const unsuitable: readonly (readonly [string, Partial<Inventory>, RegExp])[] = [
    ['with another processor', { arch: 'x86_64' }, /processor is x86_64/],
    ['with an old macOS', { macOS: '12.7.6' }, /macOS 12\.7\.6/],
    ['reached as another user', { user: { name: 'admin', uid: 502 } }, /user is admin.*names m1/],
    ['with FileVault', { fileVault: 'on' }, /FileVault is on/],
    ['without room for what is pushed', { freeKiB: 4 * 1024 * 1024 }, /4\.0 GiB .* 4\.3 GiB are needed/],
    ['with a clock that is ahead', { time: 1_800_000_301 }, /by 301 seconds/],
    ['with a clock that is behind', { time: 1_799_999_000 }, /by 1000 seconds/],
    ['without root, if no step gives it to us', { root: false }, /sudo needs a password/],
  ];
  for (const [which, overrides, what] of unsuitable) {
    test(`${which} is rejected with advice`, () => {
      const objections = objectionsTo(overrides);
      assert.equal(objections.length, 1);
      assert.match(objections[0]?.what ?? '', what);
      assert.match(objections[0]?.advice ?? '', /^[A-Z].*\.$/);
    });
  }

  const suitable: readonly (readonly [string, Partial<Inventory>])[] = [
    ['as we know them', {}],
    ['with a newer macOS', { macOS: '26.0' }],
    ['whose FileVault state is unknown', { fileVault: 'unknown' }],
    ['nearly full, which has all artifacts', { freeKiB: 300 * 1024, artifacts: new Set<string>() }],
    ['five minutes off', { time: 1_800_000_300 }],
  ];
  for (const [which, overrides] of suitable) {
    test(`${which} is accepted`, () => {
      const artifacts = overrides.artifacts === undefined ? {} : { artifacts: new Set([spec.tart.sha256]) };
      assert.deepEqual(objectionsTo({ ...overrides, ...artifacts }), []);
    });
  }

  test('with several faults gets all failures', () => {
    assert.equal(objectionsTo({ arch: 'x86_64', fileVault: 'on', macOS: '11.0' }).length, 3);
  });
});
