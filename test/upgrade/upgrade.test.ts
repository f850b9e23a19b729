import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test, type TestContext } from 'node:test';
import { labels, macFleet, machine, runnerPool } from '@tartan/api';
import { apiVersionOf, getCondition, type KubeObject, nodes, pods, type Resource } from '@tartan/kube';
import { eventually } from '@tartan/kube/testing';
import { canRunContainers } from '@tartan/sim-linux-node';
import { buildPreviousRelease, type BuiltRelease } from '@tartan/tools-kubernetes';
import { type Harness, startHarness } from '../kubernetes/acceptance/installed/harness.ts';
import { repository } from '../kubernetes/acceptance/installed/images.ts';
import { type ChangeRecorder, recordChanges } from '../kubernetes/acceptance/installed/record-changes.ts';
import { isReady, type Ran, succeeded } from '../kubernetes/acceptance/installed/run.ts';
import { firstValues, fleets, merged, namespace, release } from '../kubernetes/acceptance/installed/values.ts';
import { finishJob, startJob } from '../kubernetes/acceptance/installed/workloads.ts';
import { type Invariants, watchInvariants } from './invariants.ts';
import { checkStoredObjects } from './stored-objects.ts';

const skip = canRunContainers() ? false : 'the stand-in for Linux Nodes needs a Linux that lets it mount';

const checkout = join(import.meta.dirname, '../..');
const tags = { previous: 'previous', next: 'next' } as const;
type Tag = keyof typeof tags;
const agentOnMac = '/usr/local/lib/tart-kubelet/current/tart-kubelet.mjs';
const lastLineOfTart = 'guest has stopped the virtual machine';
const wait = ['--wait', '--timeout', '300s'];
/** Written as in the previous release, without this one's defaults. No controller for them runs here. */
const runnerPools: Resource<KubeObject & { spec: object }> = runnerPool.resource;
type Pod = NonNullable<(typeof pods)['ofType']>;

describe('an upgrade from the previous release with running jobs', { skip }, () => {
  let harness: Harness;
  let previous: BuiltRelease;
  let invariants: Invariants;
  let jobs: ChangeRecorder<Pod>;
  before(async () => {
    previous = await buildPreviousRelease();
    harness = await startHarness();
    await harness.images.put(tags.previous, previous.programs);
    await harness.images.put(tags.next);
  });
  after(async () => {
    await jobs?.stop();
    await invariants?.stop();
    await harness?.stop();
  });

  const helm = (command: 'install' | 'upgrade', which: Tag, replicas: { macos: number; runners: number }) => {
    const { SCW_API_URL: scalewayURL = '' } = harness.macs.environment;
    const values = merged(firstValues({ apiServerURL: harness.url, scalewayURL }), {
      provider: { image: { repository, tag: tags[which] } },
      macosFleet: { replicas: replicas.macos },
      runnersFleet: { replicas: replicas.runners },
    });
    const file = join(harness.folder, 'values-of-the-user.json');
    writeFileSync(file, JSON.stringify(values));
    const chart = which === 'previous' ? previous.chart : join(checkout, 'charts/tartan');
    return harness.runHelm(command, release, chart, '--values', file, ...wait);
  };
  const some = { macos: 2, runners: 1 };

  const sum = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex');
  const agentOf = (which: Tag): string =>
    sum(
      join(harness.images.known.get(`${repository}:${tags[which]}`)?.folder ?? '', 'opt/tart-kubelet/tart-kubelet.mjs'),
    );
  const everyMac = async () => (await harness.client.list(machine.resource, { namespace })).items;
  const macNodes = async () => (await harness.client.list(nodes, { labelSelector: labels.fleet })).items;

  /** What must hold after a change of the release. Violations come first: they may be why helm failed. */
  const assertUnharmed = async (t: TestContext, which: Tag, ran: Ran): Promise<void> => {
    assert.deepEqual(invariants.violations(), []);
    succeeded(harness, ran);
    const macs = await everyMac();
    assert.deepEqual(
      macs.map((each) => sum(harness.macOf(each).path(agentOnMac))),
      macs.map(() => agentOf(which)),
      `every Mac has the agent of the ${which} release`,
    );
    const { items } = await harness.client.list(macFleet.resource, { namespace });
    assert.deepEqual(
      items.map(({ status }) => getCondition(status?.conditions ?? [], 'Ready')?.reason),
      ['UpToDate', 'UpToDate'],
    );
    assert.equal((await macNodes()).filter(isReady).length, 3);
    for (const name of ['build', 'run']) {
      const { status } = await harness.client.get(pods, { namespace, name });
      assert.equal(status?.phase, 'Running', name);
    }
    t.diagnostic(`starts of the agents: ${invariants.agentStarts().join(', ')}`);
    assert.deepEqual((await checkStoredObjects(harness.client)).invalid, []);
  };

  test('the previous release is installed, Macs join, and jobs run on them', async () => {
    succeeded(harness, await helm('install', 'previous', { macos: 0, runners: 0 }));
    await eventually('the keys of both fleets are registered', () => harness.macs.scaleway.keys().length === 2);
    // One stays in the pool, where nothing may touch it.
    await harness.macs.order(4);
    succeeded(harness, await helm('upgrade', 'previous', some));
    await harness.client.create(runnerPools, {
      apiVersion: apiVersionOf(runnerPool.names),
      kind: runnerPool.names.kind,
      metadata: { namespace, name: 'pool' },
      spec: { image: 'macos:26', fleetSelector: fleets.runners },
    });
    await startJob(harness, 'build', fleets.macos);
    await startJob(harness, 'run', fleets.runners);
    jobs = await recordChanges(harness, pods);
    invariants = await watchInvariants(harness);
  });

  test('its stored objects are valid by the definitions of this release, and there is one of every kind', async (t) => {
    const { count, invalid } = await checkStoredObjects(harness.client);
    assert.deepEqual(invalid, []);
    t.diagnostic(JSON.stringify(count));
    assert.deepEqual(
      Object.entries(count).filter(([, number]) => number === 0),
      [],
    );
  });

  test('an upgrade brings the new agent to every Mac, and changes nothing else', async (t) => {
    await assertUnharmed(t, 'next', await helm('upgrade', 'next', some));
  });

  test('helm rollback restores the old agent, and changes nothing else', async (t) => {
    await assertUnharmed(t, 'previous', await harness.runHelm('rollback', release, ...wait));
  });

  test('a second upgrade behaves like the first', async (t) => {
    await assertUnharmed(t, 'next', await helm('upgrade', 'next', some));
  });

  test('the jobs that ran all the time succeed, and their logs are complete', async (t) => {
    for (const name of ['build', 'run']) {
      await finishJob(harness, name);
      const { status } = await harness.waitFor(pods, name, 'has ended', ({ status: is }) =>
        ['Succeeded', 'Failed'].includes(is?.phase ?? ''),
      );
      assert.equal(status?.phase, 'Succeeded', JSON.stringify(status));
      assert.deepEqual(
        (status?.containerStatuses ?? []).map(({ restartCount }) => restartCount),
        [0],
      );
      const log = await harness.kubectl('logs', name);
      succeeded(harness, log);
      const lines = log.stdout.trim().split('\n');
      // A killed agent may copy the end of a log twice, and must lose nothing.
      const steps = [...new Set(lines.filter((line) => line !== lastLineOfTart))];
      const last = steps.length - 1;
      assert.deepEqual(steps, [
        ...Array.from({ length: last }, (_, index) => `Step ${index + 1}`),
        `Done after step ${last}`,
      ]);
      t.diagnostic(`${name}: ${steps.length} lines`);
      const phases = new Set(jobs.statesOf(name).map(({ status: was }) => was?.phase));
      assert.deepEqual([...phases.difference(new Set(['Running', 'Succeeded']))], []);
    }
    assert.deepEqual(invariants.violations(), []);
  });
});
