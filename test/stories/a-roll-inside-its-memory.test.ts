import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { leaderElectionID, type MacFleet, macFleet } from '@tartan/api';
import { leases, type Live, nodes } from '@tartan/kube';
import type { Mac } from '@tartan/sim-mac';
import { eventually } from '../../packages/tart-kubelet/src/vm-runs/testing/eventually.ts';
import { isConnectedTo, peakMemory } from './processes.ts';
import { isReady, type Machine, namespace, openScene, runsAgent, type Scene } from './scene.ts';
import { type Watched, watched } from './watched.ts';

const fleet = 'macos';
const size = 4;
const MiB = 1024 * 1024;
/** The limit of the manager in the document, which was not raised. */
const limit = 512 * MiB;
/** What the agent weighed in the document. */
const agentSize = 47 * MiB;

/** The program of the agent as heavy as the binary of the document. What stands behind its last line is sent, and never read. */
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

describe('tuist/tuist#11065: every new agent had the manager killed for its memory, in the middle of a roll over the fleet', {
  timeout: 400_000,
  skip: process.platform !== 'linux' && 'memory is read from /proc',
}, () => {
  let scene: Scene;
  let machines: readonly Machine[];
  let nodesSeen: Watched<Live<NonNullable<(typeof nodes)['ofType']>>>;
  let leasesSeen: Watched<Live<NonNullable<(typeof leases)['ofType']>>>;
  const peaks: number[] = [];
  const turnsOf = ({ status }: MacFleet): readonly string[] => (status?.turns ?? []).map((turn) => turn.machine);
  const macNamed = (name: string): Mac => {
    const found = machines.find(({ metadata }) => metadata.name === name);
    assert(found, name);
    return scene.macOf(found);
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
    scene = await openScene({
      pool: size,
      fleets: { macos: size, runners: 0 },
      flags: ['--machine-max-concurrent-reconciles=4', ...lease],
    });
    machines = await scene.readyMachines(size);
    const body = { spec: { maxUnavailable: size } };
    await scene.client.patch(macFleet.resource, { namespace, name: fleet }, { type: 'merge', body });
    nodesSeen = await watched(scene.client, nodes);
  });
  after(async () => {
    await leasesSeen?.stop();
    await nodesSeen?.stop();
    await scene.stop();
  });

  test('a new agent drifts every Ready machine at once, and after the first all others are sent it at the same time', async () => {
    await scene.upgrade({ version: '0.2.0', runtime: heavy(scene.folder) }, { managers: 2 });
    leasesSeen = await watched(scene.client, leases);
    const rolling = await scene.waitFor(
      macFleet.resource,
      fleet,
      'rolls the rest',
      (seen) => turnsOf(seen).length === size - 1 && (seen.status?.turns ?? []).every(({ canary }) => !canary),
    );
    const macs = turnsOf(rolling).map(macNamed);
    for (const { faults } of macs) faults.bytesPerSecond = 4 * MiB;
    await eventually('all of them are receiving', () => macs.every(isReceiving));
  });

  test('the leader is killed right then, and the other manager finishes what it had begun', async () => {
    const managers = scene.managerDeployment.running();
    const macs = machines.map(scene.macOf);
    const at = managers.findIndex(({ pid }) => macs.some(({ address }) => isConnectedTo(pid, address.port)));
    const leader = managers[at];
    assert(leader);
    peaks.push(peakMemory(leader.pid));
    leader.kill('SIGKILL');
    for (const { faults } of macs) faults.bytesPerSecond = undefined;
    for (const { metadata } of machines)
      await scene.waitFor(nodes, metadata.name, 'runs the new agent', runsAgent('0.2.0'));
    await scene.waitFor(
      macFleet.resource,
      fleet,
      'is rolled',
      ({ status }) => status?.updated === size && status.ready === size && (status.turns ?? []).length === 0,
    );
    for (const { pid } of scene.managerDeployment.running()) peaks.push(peakMemory(pid));
    assert.deepEqual(
      scene.managerDeployment.running().map(({ restarts }, index) => (index === at ? restarts === 1 : restarts)),
      at === 0 ? [true, 0] : [0, true],
    );
    assert.equal(holders().length, 2, 'the lease went over once, and not to and fro');
  });

  test('no manager came near its limit, which was not raised: those that pushed had no copy of the file more than one that stood by', () => {
    assert.equal(peaks.length, 3);
    // The one that was killed is back, and has only stood by since.
    const least = Math.min(...peaks);
    for (const peak of peaks) {
      assert.ok(peak < limit, `${Math.round(peak / MiB)} MiB`);
      assert.ok(peak - least < agentSize, peaks.map((each) => `${Math.round(each / MiB)} MiB`).join());
    }
  });

  test('no Node was anything but Ready all the while, and none was made ready from the beginning', async () => {
    assert.ok(nodesSeen.states.length > size);
    assert.deepEqual(
      nodesSeen.states.filter((node) => !isReady(node)),
      [],
    );
    assert.deepEqual(
      (await scene.machines()).map(({ metadata, status }) => [metadata.uid, status?.serverID]),
      machines.map(({ metadata, status }) => [metadata.uid, status?.serverID]),
    );
    assert.deepEqual(
      machines.map((each) => scene.serverOf(each).installs),
      machines.map(() => 0),
    );
  });
});
