import assert from 'node:assert/strict';
import { test } from 'node:test';
import { labels, macFleet } from '@tartan/api';
import { getCondition, nodes } from '@tartan/kube';
import type { Harness } from './harness.ts';
import { recordChanges } from './record-changes.ts';
import { runsAgent, succeeded } from './run.ts';
import { fleets, namespace, release } from './values.ts';

/** Exits right after its start: before a Mac that is a hundred times as fast counts it as running. */
const ends = '#!/bin/sh\nexit 1\n';

/** Upgrades of the release, and their effect on Macs. */
export const testUpgrade = (on: () => Harness): void => {
  const macNodes = async () => (await on().client.list(nodes, { labelSelector: labels.fleet })).items;
  const versions = async (): Promise<readonly string[]> => {
    const all = await macNodes();
    return ['0.1.0', '0.2.0', '0.3.0'].flatMap((version) => all.filter(runsAgent(version)).map(() => version));
  };
  const reasons = async (): Promise<readonly (string | undefined)[]> => {
    const { items } = await on().client.list(macFleet.resource, { namespace });
    return items.map(({ status }) => getCondition(status?.conditions ?? [], 'Ready')?.reason);
  };

  test('helm upgrade --wait with a new agent rolls one Mac first, then up to maxUnavailable, and ends when all have it', async () => {
    const tag = await on().images.release('0.2.0');
    const followed = await recordChanges(on(), macFleet.resource);
    const ran = await on().helm('upgrade', {
      provider: { image: { tag } },
      macosFleet: { rollout: { maxUnavailable: 2 } },
    });
    await followed.stop();
    succeeded(on(), ran);
    assert.deepEqual(await versions(), ['0.2.0', '0.2.0', '0.2.0', '0.2.0']);
    assert.deepEqual(await reasons(), ['UpToDate', 'UpToDate']);
    const turns = followed.statesOf(fleets.macos).map(({ status }) => status?.turns ?? []);
    const [first = []] = turns.filter(({ length }) => length > 0);
    assert.deepEqual(
      first.map(({ canary }) => canary),
      [true],
    );
    const most = turns.reduce((sum, { length }) => Math.max(sum, length), 0);
    assert.equal(most, 2, 'the others went together, and never more');
  });

  test('an agent that does not run is rejected by the first Mac: helm upgrade --wait fails with the reason, and all Macs keep running', async () => {
    const tag = await on().images.release('0.3.0', ends);
    const { code, output } = await on().helm('upgrade', { provider: { image: { tag } } });
    assert.notEqual(code, 0);
    assert.match(output, /MacFleet\/tartan\/tartan-(macos|runners)-fleet/);
    assert.match(output, /status: Failed/, 'at once, and not after the time that helm was given');
    const { items } = await on().client.list(macFleet.resource, { namespace });
    const stopped = items.flatMap(({ status }) => getCondition(status?.conditions ?? [], 'Stalled') ?? []);
    const messages = stopped.filter(({ status, reason }) => status === 'True' && reason === 'PushRejected');
    assert.ok(
      messages.some(({ message }) => output.includes(message)),
      `helm says what the fleet says:\n${output}`,
    );
    for (const { metadata } of await macNodes())
      await on().waitFor(nodes, metadata.name, 'runs what it had', runsAgent('0.2.0'));
  });

  test('helm rollback --wait restores the previous state', async () => {
    succeeded(on(), await on().runHelm('rollback', release, '--wait', '--timeout', '300s'));
    assert.deepEqual(await versions(), ['0.2.0', '0.2.0', '0.2.0', '0.2.0']);
    assert.deepEqual(await reasons(), ['UpToDate', 'UpToDate']);
  });

  test('a fleet without enough Macs fails helm upgrade --wait with the missing machines, unless waitForMacs is false', async () => {
    const tooMany = { runnersFleet: { replicas: 3 } };
    const failed = await on().helm('upgrade', tooMany, ['--wait', '--timeout', '12s']);
    assert.notEqual(failed.code, 0);
    assert.match(failed.output, /MacFleet\/tartan\/tartan-runners-fleet not ready\. status: InProgress, message: \S+/);
    const patient = { runnersFleet: { replicas: 3, waitForMacs: false } };
    succeeded(on(), await on().helm('upgrade', patient));
    const fewer = { runnersFleet: { replicas: 1, waitForMacs: true } };
    succeeded(on(), await on().helm('upgrade', fewer));
  });
};
