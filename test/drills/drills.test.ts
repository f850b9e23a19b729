import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { machine, macNames } from '@tartan/api';
import { nodes, pods } from '@tartan/kube';
import { sleep, systemClock } from '@tartan/kube/clock';
import { eventually, testDeadline } from '@tartan/kube/testing';
import {
  coreKinds,
  deploymentOf,
  type FleetName,
  type Simulation,
  startSimulation,
  untilObjects,
} from '@tartan/sim-fleet';
import { demoPod } from '../../packages/cli/src/up/demo-pod.ts';
import { waitForFleetAtRest } from './fleet-at-rest.ts';
import { freezeLeader } from './freeze-leader.ts';

const namespace = 'default';
/** So that another manager takes over soon. */
const shortLease = [
  '--leader-elect-lease-duration=3s',
  '--leader-elect-renew-deadline=2s',
  '--leader-elect-retry-period=300ms',
];
/** So that no manager waits for the lease of a killed one. */
const alone = ['--leader-elect=false'];

/** Each drill breaks the whole system in one way, and ends in the same fleet at rest. They share one fleet, and run in this order. */
describe('drills', { timeout: 1_500_000 }, () => {
  let folder: string;
  let simulation: Simulation;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tartan-drills-'));
    simulation = await startSimulation({
      folder,
      pool: 3,
      fleets: { macos: 1, runners: 1 },
      pace: 0.005,
      // A reinstall lasts for some polls, as in reality: otherwise the manager would not see it.
      scalewayPace: 0.006,
      flags: shortLease,
    });
  });
  after(async () => {
    await simulation.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const scale = (fleet: FleetName, replicas: number): Promise<unknown> =>
    simulation.controlPlane.client.patch(
      coreKinds.machineDeployments,
      { namespace, name: deploymentOf(fleet) },
      { type: 'merge', body: { spec: { replicas } } },
    );

  test('the manager is killed 30 times while the fleet starts, grows and shrinks', async () => {
    await simulation.upgrade({ version: '0.1.0' }, { flags: alone });
    for (let kill = 0; kill < 30; kill += 1) {
      // From before it has parsed its flags to the middle of its work.
      await sleep(systemClock, Math.random() * 1000);
      const [manager] = simulation.managerDeployment.running();
      manager?.kill('SIGKILL');
      if (kill % 6 === 3) await scale('runners', kill % 12 === 3 ? 2 : 1);
      await eventually(
        'it is started again',
        () => simulation.managerDeployment.running()[0]?.restarts !== manager?.restarts,
      );
    }
    await scale('runners', 1);
    await waitForFleetAtRest(simulation, '30 kills of the manager');
  });

  test('all agents are killed at once, and their VMs keep running', async () => {
    const { client } = simulation.controlPlane;
    for (const name of ['drill-a', 'drill-b']) await client.create(pods, demoPod(name));
    await waitForFleetAtRest(simulation, 'two Pods');
    const before = await client.list(pods, { namespace });
    const agents = simulation.macs.scaleway.servers().flatMap(({ mac }) => mac?.job(macNames.agentJob)?.pid ?? []);
    assert.equal(agents.length, 2);
    for (const pid of agents) process.kill(pid, 'SIGKILL');
    await untilObjects(client, nodes, () => isNewEverywhere(agents), testDeadline());
    await waitForFleetAtRest(simulation, 'the end of all agents');
    const now = await client.list(pods, { namespace });
    assert.deepEqual(runsOf(now.items), runsOf(before.items));
  });

  const isNewEverywhere = (agents: readonly number[]): boolean => {
    const pids = simulation.macs.scaleway.servers().flatMap(({ mac }) => mac?.job(macNames.agentJob)?.pid ?? []);
    return pids.length === agents.length && pids.every((pid) => !agents.includes(pid));
  };
  type Pod = NonNullable<(typeof pods)['ofType']>;
  /** Start time and restarts of each container: unchanged if it was left alone. */
  const runsOf = (all: readonly Pod[]) =>
    all.map(({ metadata, status }) => [
      metadata?.name,
      status?.containerStatuses?.map(({ restartCount, state }) => [restartCount, state?.running?.startedAt]),
    ]);

  test('the API server is down for a while, and no Pod is lost', async () => {
    const before = await simulation.controlPlane.client.list(pods, { namespace });
    const resume = await simulation.controlPlane.pause?.();
    await sleep(systemClock, 3_000);
    await resume?.();
    await waitForFleetAtRest(simulation, 'an outage of the API server');
    assert.deepEqual(
      runsOf((await simulation.controlPlane.client.list(pods, { namespace })).items),
      runsOf(before.items),
    );
  });

  test('Scaleway fails every third call while a fleet grows and shrinks', async () => {
    const { faults } = simulation.macs.scaleway;
    faults.failsEvery = 3;
    await scale('macos', 2);
    await waitForFleetAtRest(simulation, 'growth with a Scaleway that fails');
    await scale('macos', 1);
    // Enough for the calls of a release. A refused wipe is retried after two minutes, and must not be refused forever.
    const { requests } = simulation.macs.scaleway;
    const before = requests.length;
    await eventually('Scaleway was called 30 times', () => requests.length >= before + 30);
    faults.failsEvery = undefined;
    await waitForFleetAtRest(simulation, 'shrinking with a Scaleway that fails');
  });

  test('one of two managers leads, and the other takes over when it is frozen or killed', async () => {
    await simulation.upgrade({ version: '0.1.0' }, { managers: 2 });
    await scale('runners', 2);
    const frozen = await freezeLeader(simulation, testDeadline());
    await waitForFleetAtRest(simulation, 'a frozen leader, without it');
    frozen.kill('SIGCONT');
    await scale('runners', 1);
    const killed = await freezeLeader(simulation, testDeadline());
    killed.kill('SIGKILL');
    await waitForFleetAtRest(simulation, 'a killed leader');
  });

  test('a Mac with a running VM loses power: the fleet recovers when it is back', async () => {
    const { client } = simulation.controlPlane;
    const listed = async () => (await client.list(pods, { namespace })).items;
    // Pods of earlier drills may have been drained from released Macs.
    const ofDrill = 'drill-c';
    await client.create(pods, demoPod(ofDrill));
    await waitForFleetAtRest(simulation, 'one more Pod');
    const { spec } = await client.get(pods, { namespace, name: ofDrill });
    const name = spec?.nodeName ?? '';
    const server = simulation.macs.scaleway.servers().find((each) => each.name === name);
    assert.ok(server?.mac, name);
    await server.mac.powerOff();
    const isSeen = await untilObjects(
      client,
      machine.resource,
      (all) => all.some(({ metadata, status }) => metadata.name === name && status?.ready === false),
      testDeadline(),
    );
    assert.ok(isSeen, 'its machine is not Ready any more');
    await server.mac.powerOn();
    // Also those of earlier drills, if it had any.
    const wereThere = (all: Awaited<ReturnType<typeof listed>>) => all.filter((pod) => pod.spec?.nodeName === name);
    const isOver = await untilObjects(
      client,
      pods,
      (all) => wereThere([...all]).every(({ status }) => status?.phase === 'Failed'),
      testDeadline(),
    );
    assert.ok(isOver, 'what ran on it has failed, and says so');
    for (const { metadata } of wereThere(await listed())) await client.delete(pods, { namespace, name: metadata.name });
    await waitForFleetAtRest(simulation, 'the death of a Mac');
  });
});
