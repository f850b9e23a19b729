import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { macFleet, machine } from '@tartan/api';
import { events, getCondition, leases, nodes, pods, secrets } from '@tartan/kube';
import { eventually } from '@tartan/kube/testing';
import { fleetNamespace as namespace } from '@tartan/sim-fleet';
import { catalogue } from '../../packages/cli/src/fault/catalogue.ts';
import { type Harness, startHarness } from './harness.ts';

const wiped = ({ simulation }: Harness): Map<string, number> =>
  new Map(simulation.macs.scaleway.servers().map(({ id, installs }) => [id, installs]));

/** Two fleets at a time, as one of the faults takes a minute in which nothing happens. */
describe('the fleet recovers from each fault', { timeout: 900_000, concurrency: 2 }, () => {
  const played = new Set<string>();
  after(() => {
    const leftOut = catalogue.map(({ name }) => name).filter((name) => !played.has(name));
    assert.deepEqual(leftOut, []);
  });

  describe('rolls, and the systems around Macs', { concurrency: 1 }, () => {
    let harness: Harness;
    before(async () => {
      harness = await startHarness(4);
    });
    after(() => harness.stop());
    const playing = (name: string): Promise<string> => harness.play(played.add(name) && name);
    const allRun = (version: string): Promise<true> =>
      eventually(`both machines are Ready with agent ${version}`, async () =>
        isDeepStrictEqual(await harness.agents(), [`v${version}`, `v${version}`]),
      );

    test('fleet-wide-roll: every machine has the new agent, one of a fleet at a time', async () => {
      await playing('fleet-wide-roll');
      await allRun('0.1.1');
      await eventually('an event reports the end of the rollout', async () =>
        (await harness.client.list(events, { namespace })).items.some(({ reason }) => reason === 'RollFinished'),
      );
      assert.deepEqual(
        harness.simulation.managerDeployment.running().map(({ restarts }) => restarts),
        [0],
      );
    });

    test('no-op-kickstart: the roll stops, and the next release is rolled', async () => {
      assert.match(
        await playing('no-op-kickstart'),
        /The rollout of macos has stopped: .*its old process \d+ is still there/,
      );
      await allRun('0.1.3');
      await eventually('no fleet is stalled', async () =>
        (await harness.client.list(macFleet.resource, { namespace })).items.every(
          ({ status }) => getCondition(status?.conditions, 'Stalled')?.status !== 'True',
        ),
      );
    });

    test('codesign-kill: a new file runs where an overwritten one is killed', async () => {
      assert.match(await playing('codesign-kill'), /OS_REASON_CODESIGNING/);
      await allRun('0.1.4');
    });

    test('leader-frozen: another one leads, and in the end one manager runs', async () => {
      await playing('leader-frozen');
      assert.equal(harness.simulation.managerDeployment.running().length, 1);
      await allRun('0.1.4');
    });

    test('scaleway-outage: Nodes stay Ready, and the requested machine gets its Mac', async () => {
      assert.match(await playing('scaleway-outage'), /waits: (?!NoAvailableHost)[^]*Bootstrapped/);
      assert.deepEqual(harness.simulation.macs.scaleway.faults.calls, []);
      await allRun('0.1.4');
    });

    test('api-server-outage: virtual machines and agents run on as the same processes', async () => {
      await playing('api-server-outage');
      assert.deepEqual((await harness.client.list(pods, { namespace })).items, []);
      await allRun('0.1.4');
    });

    let lost: string | undefined;
    test('stranded-hosts: the Mac is wiped and back in the pool, and another machine is Ready', async () => {
      const before = (await harness.client.list(machine.resource, { namespace })).items.map(
        (each) => each.metadata.name,
      );
      const [installs, hosts] = [wiped(harness), await harness.hosts()];
      await playing('stranded-hosts');
      const left = (await harness.client.list(machine.resource, { namespace })).items.map((each) => each.metadata.name);
      lost = before.find((name) => !left.includes(name));
      const mac = hosts.find(({ spec }) => spec.consumerRef?.name === lost)?.metadata.name ?? '';
      assert.ok((wiped(harness).get(mac) ?? 0) > (installs.get(mac) ?? 0));
      await eventually('no Mac is stranded', async () =>
        (await harness.hosts()).every(({ status }) => status?.state !== 'stranded'),
      );
    });

    // While its Mac is not wiped yet, the agent there registers its Node again.
    test('stranded-hosts: no Node of the deleted machine is left', async () => {
      await eventually(`the Node ${lost} is gone`, async () =>
        (await harness.client.list(nodes)).items.every(({ metadata }) => metadata.name !== lost),
      );
    });

    test('host-wiped: the machine reports it, and another one replaces it', async () => {
      // Either the poll of Scaleway or the missing Node is noticed first.
      assert.match(await playing('host-wiped'), /is not Ready: (HostNotRunning|NodeNotReady)/);
      await allRun('0.1.4');
    });
  });

  describe('single Macs', { concurrency: 1 }, () => {
    let harness: Harness;
    let poweredOff: Promise<string>;
    before(async () => {
      harness = await startHarness(4);
      // The other machine stays usable for the other faults.
      poweredOff = harness.play('mac-powered-off');
      poweredOff.catch(() => {});
    });
    after(() => harness.stop());
    const playing = (name: string): Promise<string> => harness.play(played.add(name) && name);
    const noPods = async (): Promise<void> =>
      assert.deepEqual((await harness.client.list(pods, { namespace })).items, []);

    test('stuck-pods: a finished Pod is deleted', async () => {
      assert.match(await playing('stuck-pods'), /has Succeeded, and has the finalizer/);
      await noPods();
    });

    test('dead-loginwindow: the console session is restored before the VM starts', async () => {
      await playing('dead-loginwindow');
      // The other Mac may boot at this moment.
      await eventually('a user is logged in at the console of each prepared Mac that is on', () =>
        harness.simulation.macs.scaleway
          .servers()
          .every(({ mac }) => !mac?.isOn() || !existsSync(mac.path('/var/db/tartan')) || mac.guiSession() === 'Aqua'),
      );
      await noPods();
    });

    test('bake-beside-agent: the push is complete', async () => {
      await playing('bake-beside-agent');
    });

    test('capi-without-kubeconfig: the Secret is written again', async () => {
      await playing('capi-without-kubeconfig');
      const found = await harness.client.get(secrets, { namespace, name: 'tartan-capi-kubeconfig' });
      assert.ok(found.data?.['value']);
    });

    test('sealed-password: the Mac never becomes Ready', async () => {
      assert.match(await playing('sealed-password'), /The Mac is not Ready: .*sealed/);
      assert.equal((await harness.client.list(machine.resource, { namespace })).items.length, 2);
    });

    test('reinstall-without-wipe: the first contact detects it, and the Mac is free again in the end', async () => {
      assert.match(await playing('reinstall-without-wipe'), /in quarantine: .*not wiped/);
      await eventually('no Mac is in quarantine', async () =>
        (await harness.hosts()).every(({ status }) => status?.state !== 'quarantined'),
      );
    });

    test('adoption-during-sweep: no Mac is wiped that a machine holds', async () => {
      assert.match(await playing('adoption-during-sweep'), /is Ready on .*, which was not wiped since/);
      assert.equal((await harness.client.list(machine.resource, { namespace })).items.length, 2);
    });

    test('mac-powered-off: the Mac is unchanged when it is on again', async () => {
      played.add('mac-powered-off');
      assert.match(await poweredOff, /has power again/);
      await eventually('both machines are Ready, with their agent and its Lease', async () => {
        const { items } = await harness.client.list(leases, { namespace: 'kube-node-lease' });
        return items.length >= 2 && (await harness.agents()).every((version) => version === 'v0.1.0');
      });
    });
  });

  describe('runners', { concurrency: 1 }, () => {
    let harness: Harness;
    before(async () => {
      harness = await startHarness(2, { runners: {} });
    });
    after(() => harness.stop());

    test('queue-jobs: all jobs are done, and the pool reports meanwhile that they wait', async () => {
      played.add('queue-jobs');
      assert.match(await harness.play('queue-jobs'), /4 jobs are queued for 2 runners\.\n.*Saturated: /);
      assert.deepEqual(harness.simulation.runners?.github.lostJobs(), []);
    });
  });
});
