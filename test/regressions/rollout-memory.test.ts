import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { leaderElectionID, type MacFleet, macFleet } from '@tartan/api';
import { leases, type Live, nodes } from '@tartan/kube';
import { eventually } from '@tartan/kube/testing';
import type { Mac } from '@tartan/sim-mac';
import { type Harness, isReady, type Machine, namespace, runsAgent, startHarness } from './harness.ts';
import { isConnectedTo, peakMemory } from './processes.ts';
import { type ChangeRecorder, recordChanges } from './record-changes.ts';

const fleet = 'macos';
const size = 4;
const MiB = 1024 * 1024;
/** The memory limit of the manager in tuist/tuist#11065, which was not raised. */
const limit = 512 * MiB;
/** The size of the agent in tuist/tuist#11065. */
const agentSize = 47 * MiB;

/** The agent's program, as large as that binary. The bytes after its last line are sent, and never read. */
const heavy = (folder: string): string => {
  const artifacts = join(folder, 'artifacts');
  const shipped = readdirSync(artifacts).find((name) => name.startsWith('node-'));
  assert(shipped);
  const program = readFileSync(join(artifacts, shipped), 'utf8');
  return `${program}#${'x'.repeat(agentSize - program.length - 2)}\n`;
};

/** Long enough for a leader on a busy machine, short enough to wait for the other one. */
const lease = [
  '--leader-elect-lease-duration=6s',
  '--leader-elect-renew-deadline=5s',
  '--leader-elect-retry-period=500ms',
];

const store = '/var/db/tartan/artifacts';
const isReceiving = (mac: Mac): boolean => readdirSync(mac.path(store)).some((file) => file.startsWith('.partial.'));

describe('tuist/tuist#11065: every new agent exceeded the memory of the manager in the middle of a rollout', {
  timeout: 400_000,
  skip: process.platform !== 'linux' && 'memory is read from /proc',
}, () => {
  let harness: Harness;
  let machines: readonly Machine[];
  let nodesSeen: ChangeRecorder<Live<NonNullable<(typeof nodes)['ofType']>>>;
  let leasesSeen: ChangeRecorder<Live<NonNullable<(typeof leases)['ofType']>>>;
  const peaks: number[] = [];
  const turnsOf = ({ status }: MacFleet): readonly string[] => (status?.turns ?? []).map((turn) => turn.machine);
  const macNamed = (name: string): Mac => {
    const found = machines.find(({ metadata }) => metadata.name === name);
    assert(found, name);
    return harness.macOf(found);
  };
  const holders = (): string[] => [
    ...new Set(
      leasesSeen.states
        .filter(({ metadata }) => metadata.name === leaderElectionID)
        .map(({ spec }) => spec?.holderIdentity ?? '')
        .filter((holder) => holder !== ''),
    ),
  ];

  before(async () => {
    harness = await startHarness({
      pool: size,
      fleets: { macos: size, runners: 0 },
      flags: ['--machine-max-concurrent-reconciles=4', ...lease],
    });
    machines = await harness.readyMachines(size);
    const body = { spec: { maxUnavailable: size } };
    await harness.client.patch(macFleet.resource, { namespace, name: fleet }, { type: 'merge', body });
    nodesSeen = await recordChanges(harness.client, nodes);
  });
  after(async () => {
    await leasesSeen?.stop();
    await nodesSeen?.stop();
    await harness.stop();
  });

  test('a new agent drifts every Ready machine at once, and after the first machine all others are updated at the same time', async () => {
    await harness.upgrade({ version: '0.2.0', runtime: heavy(harness.folder) }, { managers: 2 });
    leasesSeen = await recordChanges(harness.client, leases);
    const rolling = await harness.waitFor(
      macFleet.resource,
      fleet,
      'rolls the rest',
      (seen) => turnsOf(seen).length === size - 1 && (seen.status?.turns ?? []).every(({ canary }) => !canary),
    );
    const macs = turnsOf(rolling).map(macNamed);
    for (const { faults } of macs) faults.bytesPerSecond = 4 * MiB;
    await eventually('all of them are receiving', () => macs.every(isReceiving));
  });

  test('the leader is killed during the rollout, and the other manager finishes it', async () => {
    const managers = harness.managerDeployment.running();
    const macs = machines.map(harness.macOf);
    const at = managers.findIndex(({ pid }) => macs.some(({ address }) => isConnectedTo(pid, address.port)));
    const leader = managers[at];
    assert(leader);
    peaks.push(peakMemory(leader.pid));
    leader.kill('SIGKILL');
    for (const { faults } of macs) faults.bytesPerSecond = undefined;
    for (const { metadata } of machines)
      await harness.waitFor(nodes, metadata.name, 'runs the new agent', runsAgent('0.2.0'));
    await harness.waitFor(
      macFleet.resource,
      fleet,
      'is rolled',
      ({ status }) => status?.updated === size && status.ready === size && (status.turns ?? []).length === 0,
    );
    for (const { pid } of harness.managerDeployment.running()) peaks.push(peakMemory(pid));
    assert.deepEqual(
      harness.managerDeployment.running().map(({ restarts }, index) => (index === at ? restarts === 1 : restarts)),
      at === 0 ? [true, 0] : [0, true],
    );
    assert.equal(holders().length, 2, 'the lease went over once, and not to and fro');
  });

  test('no manager came near its memory limit: one that pushed had no more copies of the file than a standby', () => {
    assert.equal(peaks.length, 3);
    // The killed one is back, and has only been on standby since.
    const least = Math.min(...peaks);
    for (const peak of peaks) {
      assert.ok(peak < limit, `${Math.round(peak / MiB)} MiB`);
      assert.ok(peak - least < agentSize, peaks.map((each) => `${Math.round(each / MiB)} MiB`).join());
    }
  });

  test('all Nodes stayed Ready, and no Mac was bootstrapped again', async () => {
    assert.ok(nodesSeen.states.length > size);
    assert.deepEqual(
      nodesSeen.states.filter((node) => !isReady(node)),
      [],
    );
    assert.deepEqual(
      (await harness.machines()).map(({ metadata, status }) => [metadata.uid, status?.serverID]),
      machines.map(({ metadata, status }) => [metadata.uid, status?.serverID]),
    );
    assert.deepEqual(
      machines.map((each) => harness.serverOf(each).installs),
      machines.map(() => 0),
    );
  });
});
