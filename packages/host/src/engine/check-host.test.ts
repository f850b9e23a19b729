import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import { type Mac, startMac } from '@tartan/sim-mac';
import type { HostSpec } from '../host-spec.ts';
import { exampleSpec } from '../testing/example-spec.ts';
import { fakeStep } from '../testing/fake-step.ts';
import { grantRoot } from '../testing/fresh-macs.ts';
import { macConnection } from '../testing/mac-connection.ts';
import { checkHost } from './check-host.ts';
import { convergeHost } from './converge-host.ts';

describe('checking a host', () => {
  let folder: string;
  let mac: Mac;
  let spec: HostSpec;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tartan-check-'));
    mac = await startMac({ folder: join(folder, 'mac') });
    grantRoot(mac);
    spec = exampleSpec(join(folder, 'artifacts'));
  });
  afterEach(() => {
    rmSync(mac.path('/var/db/tartan'), { recursive: true, force: true });
    rmSync(mac.path('/var/fake'), { recursive: true, force: true });
  });
  after(async () => {
    await mac.stop();
    rmSync(folder, { recursive: true });
  });

  const a = fakeStep('a', { artifact: () => spec.tart, payload: () => 'a secret' });
  const b = fakeStep('b');

  test('lists the differences of each step, and changes nothing', async () => {
    await convergeHost(macConnection(mac), spec, {}, { owner: 'test', idle: true, steps: [a, b] });
    writeFileSync(mac.path('/var/fake/a'), 'by hand\n');
    const seen: string[] = [];
    const outcome = await checkHost(macConnection(mac), spec, { steps: [b, a], onStep: ({ step }) => seen.push(step) });
    assert.ok(outcome.kind === 'checked', JSON.stringify(outcome));
    assert.deepEqual(outcome.steps, [
      { step: 'b', title: 'write b', state: 'as wanted', differences: [], stamp: 'current' },
      {
        step: 'a',
        title: 'write a',
        state: 'different',
        differences: [`a is not ${spec.nodeName}`],
        stamp: 'current',
      },
    ]);
    assert.deepEqual(seen, ['b', 'a']);
    assert.equal(readFileSync(mac.path('/var/fake/a'), 'utf8'), 'by hand\n');
  });

  test('lists everything that a fresh host lacks, and leaves no trace on it', async () => {
    const outcome = await checkHost(macConnection(mac), spec, { steps: [a] });
    assert.ok(outcome.kind === 'checked');
    assert.deepEqual(
      outcome.steps.map(({ state, stamp }) => [state, stamp]),
      [['different', 'none']],
    );
    assert.equal(existsSync(mac.path('/var/db/tartan')), false);
  });

  test('takes no lock, and ignores locks of others', async () => {
    mkdirSync(mac.path('/var/db/tartan/lock'), { recursive: true });
    writeFileSync(mac.path('/var/db/tartan/lock/100000001'), 'somebody#1\nthis boot\n1800000000\n');
    const outcome = await checkHost(macConnection(mac), spec, { steps: [a] });
    assert.ok(outcome.kind === 'checked');
    assert.deepEqual(outcome.inventory.lock, { owner: 'somebody#1', since: 1_800_000_000 });
  });

  test('continues after a step whose check fails, and reports why', async () => {
    const blind = fakeStep('blind', {
      script: 'check() { fail "nothing to see"; }\ncheck_absent() { :; }\napply() { :; }\nremove() { :; }\n',
    });
    const outcome = await checkHost(macConnection(mac), spec, { steps: [blind, b] });
    assert.ok(outcome.kind === 'checked');
    assert.deepEqual(
      outcome.steps.map(({ state }) => state),
      ['could not look', 'different'],
    );
    assert.match(outcome.steps[0]?.error?.message ?? '', /nothing to see/);
  });

  test('reports steps that need root on a host without it, and does not run them', async () => {
    rmSync(mac.path(`/etc/sudoers.d/${mac.user.name}-nopasswd`));
    try {
      const root = fakeStep('root', { unprivileged: true });
      const connection = macConnection(mac);
      const outcome = await checkHost(connection, spec, { steps: [root, a, b] });
      assert.ok(outcome.kind === 'checked');
      assert.deepEqual(
        outcome.steps.map(({ step, error }) => [step, error?.failure]),
        [
          ['root', undefined],
          ['a', 'no root'],
          ['b', 'no root'],
        ],
      );
      assert.equal(connection.scripts.length, 2);
    } finally {
      grantRoot(mac);
    }
  });

  test('reports preflight failures', async () => {
    const outcome = await checkHost(macConnection(mac), { ...spec, user: 'admin' }, { steps: [] });
    assert.ok(outcome.kind === 'checked');
    assert.equal(outcome.objections.length, 1);
  });

  test('ends when the connection ends', async () => {
    const cut = macConnection(mac, { cut: (script) => (script.includes("STEP='b'") ? 'before' : undefined) });
    const outcome = await checkHost(cut, spec, { steps: [a, b] });
    assert.deepEqual(outcome, { kind: 'connection lost', during: 'b', cause: 'cut by the test' });
  });
});
