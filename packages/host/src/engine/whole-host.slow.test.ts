import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type Mac, startMac } from '@tartan/sim-mac';
import type { HostSecrets, HostSpec } from '../host-spec.ts';
import { hostSteps } from '../steps/index.ts';
import { macConnection } from '../testing/mac-connection.ts';
import { standInAgent } from '../testing/stand-in-agent.ts';
import { plantedSecrets, workingSpec } from '../testing/working-spec.ts';
import { stepsWith } from '../testing/step-results.ts';
import { checkHost } from './check-host.ts';
import { convergeHost, type ConvergeOptions } from './converge-host.ts';
import type { HostEvent } from './host-outcome.ts';
import { summaryHash } from './step-hash.ts';

/** One Mac, all real steps, from a new Mac to a host and through its life. The order of the tests matters. */
describe('a new Mac', () => {
  let folder: string;
  let mac: Mac;
  let spec: HostSpec;
  let secrets: Required<HostSecrets>;
  const events: HostEvent[] = [];
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tartan-whole-'));
    mac = await startMac({ folder: join(folder, 'mac') });
    spec = await workingSpec(join(folder, 'artifacts'));
    secrets = plantedSecrets(mac.user.password);
  });
  after(async () => {
    await mac.stop();
    rmSync(folder, { recursive: true });
  });

  const allSteps = hostSteps.map((step) => step.name);
  const converge = async (to: HostSpec, options: Partial<ConvergeOptions> = {}, given: HostSecrets = secrets) => {
    const from = events.length;
    const report = (event: HostEvent): void => void events.push(event);
    const outcome = await convergeHost(macConnection(mac), to, given, {
      owner: 'test',
      idle: true,
      report,
      ...options,
    });
    assert.equal(
      outcome.kind,
      'converged',
      outcome.kind === 'step failed' ? outcome.error.message : JSON.stringify(outcome),
    );
    assert.ok(outcome.kind === 'converged');
    assert.deepEqual(
      outcome.optionalFailures.map(({ message }) => message),
      [],
    );
    const happened = events.slice(from);
    return { ...outcome, applied: stepsWith('applied', happened), removed: stepsWith('removed', happened) };
  };
  const jobsStarted = (): number => mac.journal.entries.filter(({ what }) => what === 'launchd.bootstrap').length;

  test('converges by every step', async () => {
    const outcome = await converge(spec);
    assert.deepEqual(outcome.applied, allSteps);
    assert.equal(outcome.summary, summaryHash(spec));
  });

  test('is unchanged by a second verify run', async () => {
    const before = [mac.job('dev.tuist.tart-kubelet')?.pid, jobsStarted()];
    const outcome = await converge(spec, { mode: 'verify' }, {});
    assert.deepEqual([outcome.applied, outcome.removed], [[], []]);
    assert.deepEqual([mac.job('dev.tuist.tart-kubelet')?.pid, jobsStarted()], before);
  });

  test('passes every check', async () => {
    const outcome = await checkHost(macConnection(mac), spec);
    assert.ok(outcome.kind === 'checked');
    assert.deepEqual(outcome.objections, []);
    for (const { step, state, stamp } of outcome.steps)
      assert.deepEqual([step, state, stamp], [step, 'as wanted', 'current']);
  });

  test('gets a new agent, and no other change', async () => {
    const from = events.length;
    const release = standInAgent(join(folder, 'artifacts'), '0.2.0');
    const outcome = await converge({ ...spec, agent: { ...spec.agent, release } });
    assert.deepEqual(outcome.applied, ['agent-release', 'agent-job']);
    const happened = events.slice(from);
    const started = happened.flatMap((event) => (event.kind === 'step started' ? [event.step] : []));
    assert.deepEqual(started, outcome.applied, 'no other step is even looked at');
    const sent = happened.flatMap((event) => (event.kind === 'artifact finished' ? [event.sent] : []));
    assert.deepEqual(sent, [release.size]);
    assert.ok(!readdirSync(mac.path('/var/db/tartan/artifacts')).includes(spec.agent.release.sha256));
  });

  test('loses features that are switched off', async () => {
    const { tailscale: _, nodeExporter: __, ghActionsRunner: ___, ...less } = spec;
    const outcome = await converge(less);
    assert.deepEqual(outcome.removed, ['tailscale', 'node-exporter', 'builder-tools', 'actions-runner']);
    assert.equal(outcome.summary, summaryHash(less));
    assert.deepEqual((await converge(less, { mode: 'verify' })).applied, []);
  });
});
