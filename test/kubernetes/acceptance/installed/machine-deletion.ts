import assert from 'node:assert/strict';
import { test } from 'node:test';
import { labels } from '@tartan/api';
import { daemonSets, getCondition, nodes, podDisruptionBudgets, pods } from '@tartan/kube';
import { eventually } from '@tartan/kube/testing';
import { coreKinds } from '@tartan/sim-fleet';
import type { Harness } from './harness.ts';
import { recordChanges } from './record-changes.ts';
import { succeeded } from './run.ts';
import { fleets, namespace } from './values.ts';
import { daemonSet, finishJob, machineDeployments, startJob, startPod, untilAvailable } from './workloads.ts';

/** Macs that are drained, deleted, replaced, or dead. */
export const testMachineDeletion = (on: () => Harness): void => {
  const evictions = (name: string) =>
    on()
      .audit()
      .filter((each) => each.what === 'pods/eviction' && each.name === name);

  test('kubectl drain waits for a job with a disruption budget, and ends with the job', async () => {
    const metadata = { namespace, name: 'jobs' };
    await on().client.create(podDisruptionBudgets, {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata,
      spec: { minAvailable: 1, selector: { matchLabels: { 'tuist.dev/runner': 'true' } } },
    });
    const { spec } = await startJob(on(), 'drained', fleets.runners);
    const node = spec?.nodeName ?? '';
    const draining = on().kubectl('drain', node, '--ignore-daemonsets', '--force', '--timeout=300s');
    await eventually('the eviction is refused', () => evictions('drained').some(({ code }) => code === 429));
    const { status, metadata: job } = await on().client.get(pods, { namespace, name: 'drained' });
    assert.equal(status?.phase, 'Running');
    assert.equal(job.deletionTimestamp, undefined);
    await finishJob(on(), 'drained');
    succeeded(on(), await draining);
    succeeded(on(), await on().kubectl('uncordon', node));
    await on().client.delete(podDisruptionBudgets, metadata);
  });

  test('a deleted Machine is removed after its job has ended, keeps DaemonSet Pods, and is replaced', async () => {
    await on().client.create(daemonSets, daemonSet('everywhere', fleets.runners));
    const { spec } = await startJob(on(), 'waited-for', fleets.runners);
    const name = spec?.nodeName ?? '';
    await on().waitFor(
      daemonSets,
      'everywhere',
      'runs on the Mac',
      ({ status }) => status?.numberReady === 1 && status.desiredNumberScheduled === 1,
    );
    succeeded(on(), await on().kubectl('delete', 'machine', name, '--wait=false'));
    await on().waitFor(coreKinds.machines, name, 'waits for the job', ({ status }) =>
      /waited-for/.test(getCondition(status?.conditions ?? [], 'Deleting')?.message ?? ''),
    );
    const [mine] = await on().machines(fleets.runners);
    assert.ok(mine);
    assert.equal(mine.metadata.deletionTimestamp, undefined, 'the Mac is not touched');
    const { installs } = on().serverOf(mine);
    await finishJob(on(), 'waited-for');
    await on().waitUntilGone(coreKinds.machines, name);
    await on().client.delete(daemonSets, { namespace, name: 'everywhere' });
    assert.deepEqual(evictions('waited-for'), []);
    assert.ok(!evictionsOfDaemons(on()), 'Pods of a DaemonSet are not evicted');
    await untilAvailable(on(), fleets.runners, 1);
    assert.equal(on().serverOf(mine).installs, installs + 1);
  });

  test('another template replaces Machines one by one and evicts Pods that are not jobs, and helm upgrade --wait waits for it', async () => {
    await startPod(on(), 'bystander', fleets.macos);
    const before = await on().machines(fleets.macos);
    const followed = await recordChanges(on(), machineDeployments);
    succeeded(on(), await on().helm('upgrade', { macosFleet: { machine: { hostCPU: 6 } } }));
    const { items } = await on().client.list(nodes, { labelSelector: `${labels.fleet}=${fleets.macos}` });
    assert.deepEqual(
      items.map(({ status }) => status?.capacity?.['cpu']),
      ['6', '6', '6'],
      'it did not end before',
    );
    await untilAvailable(on(), fleets.macos, 3);
    await followed.stop();
    const available = followed.statesOf(fleets.macos).map(({ status }) => status?.availableReplicas ?? 0);
    assert.equal(Math.min(...available), 2, 'never more than one was missing');
    assert.ok(evictions('bystander').length > 0);
    const now = await on().machines(fleets.macos);
    const names = new Set(before.map(({ metadata }) => metadata.name));
    assert.deepEqual(
      now.filter(({ metadata }) => names.has(metadata.name)),
      [],
    );
  });

  test('a dead Mac is replaced by another, and returns to the pool', async () => {
    const soon = { rollout: { gateDeadlineSeconds: 4 }, healthCheck: { unhealthyTimeoutSeconds: 5 } };
    succeeded(on(), await on().helm('upgrade', { macosFleet: soon }));
    const [dead] = await on().machines(fleets.macos);
    assert.ok(dead);
    const server = on().serverOf(dead);
    const { installs } = server;
    await on().macOf(dead).powerOff();
    await on().waitUntilGone(coreKinds.machines, dead.metadata.name);
    await untilAvailable(on(), fleets.macos, 3);
    await eventually('it is in the pool', () => server.name.startsWith('tuist-pool-') && server.status === 'ready');
    assert.equal(server.installs, installs + 1);
  });
};

const evictionsOfDaemons = (harness: Harness): boolean =>
  harness.audit().some(({ what, name }) => what === 'pods/eviction' && name.startsWith('everywhere-'));
