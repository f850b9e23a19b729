import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { machine, machineTemplate, type MacHost, macHost } from '@tartan/api';
import { testDeadline } from '@tartan/kube/testing';
import { coreKinds, deploymentOf, untilObjects } from '@tartan/sim-fleet';
import { type Harness, namespace, startHarness } from '../regressions/harness.ts';

const fleet = deploymentOf('macos');

/** As in the chart: no additional Macs, and one at a time. */
const strategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } };

describe('one value moves a fleet to the next macOS and back', { timeout: 600_000 }, () => {
  let harness: Harness;
  before(async () => {
    harness = await startHarness({ pool: 2, fleets: { macos: 2, runners: 0 } });
    await harness.readyMachines(2);
  });
  after(() => harness.stop());

  /** The effect of a changed `machine.os` in the chart: a template with another name, to which the MachineDeployment refers. */
  const want = async (os: string, name: string): Promise<void> => {
    await harness.client.create(
      machineTemplate.resource,
      machineTemplate.make({
        metadata: { namespace, name },
        spec: { template: { spec: { fleetName: 'macos', os } } },
      }),
    );
    const body = { spec: { rollout: { strategy }, template: { spec: { infrastructureRef: { name } } } } };
    await harness.client.patch(coreKinds.machineDeployments, { namespace, name: fleet }, { type: 'merge', body });
  };

  /** Waits until all Macs of the fleet are Ready with that macOS. Returns the lowest number of Ready machines meanwhile. */
  const untilAll = async (os: string, count: number): Promise<number> => {
    let fewest = count;
    const isSeen = await untilObjects(
      harness.client,
      machine.resource,
      (all) => {
        const ready = all.filter(({ status }) => status?.ready === true);
        fewest = Math.min(fewest, ready.length);
        return all.length === count && ready.length === count && all.every(({ spec }) => spec.os === os);
      },
      testDeadline(),
    );
    assert.ok(isSeen, `${count} machines are Ready with ${os}`);
    for (const one of await harness.machines()) assert.equal(harness.serverOf(one).os.family, os);
    return fewest;
  };
  const wipes = (): number => harness.macs.scaleway.servers().reduce((sum, { installs }) => sum + installs, 0);

  test('with every Mac in use, one after the other', async () => {
    const began = wipes();
    await want('Sequoia', 'macos-sequoia');
    assert.ok((await untilAll('Sequoia', 2)) >= 1, 'the other one stays Ready');
    const there = wipes();
    await want('Tahoe', 'macos-tahoe');
    assert.ok((await untilAll('Tahoe', 2)) >= 1);
    assert.ok(there - began <= 4, `${there - began} wipes for two Macs`);
    assert.ok(wipes() - there <= 4, `${wipes() - there} wipes for two Macs`);
  });

  test('with spare Macs of the old version, of which at most as many are reinstalled as machines wait', async () => {
    await harness.macs.order(2);
    const inPool = async (count: number): Promise<void> => {
      const isFree = (all: readonly MacHost[]): boolean =>
        all.filter(({ status }) => status?.state === 'pool').length === count;
      assert.ok(await untilObjects(harness.client, macHost.resource, isFree, testDeadline()), `${count} Macs are free`);
    };
    await inPool(2);
    const began = wipes();
    await want('Sequoia', 'macos-sequoia-again');
    assert.ok((await untilAll('Sequoia', 2)) >= 1);
    await inPool(2);
    assert.ok(wipes() - began <= 4, `${wipes() - began} wipes for two machines and two spare Macs`);
  });
});
