import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { finalizers, machine, macHost } from '@tartan/api';
import { type Client, createClient, type Transport } from '@tartan/kube';
import { systemClock } from '@tartan/kube/clock';
import { freeStatus } from '../testing/hosts.ts';
import { createHostController, createManager, createUser } from './actors.ts';
import { createInterleaving, seeded } from './interleaving.ts';
import { createLedger } from './ledger.ts';

export interface ClaimCluster {
  readonly transport: Transport;
  readonly namespace: string;
  close(): Promise<void> | void;
}

const machineCount = 3;
const managerCount = 3;

/** Machines and hosts of one schedule. Those of earlier schedules stay, unused. */
const setUp = async (client: Client, namespace: string, label: string, hostCount: number): Promise<void> => {
  for (let at = 0; at < machineCount; at += 1) {
    const metadata = { namespace, name: `m${at}-${label}`, finalizers: [finalizers.machine] };
    await client.create(machine.resource, machine.make({ metadata }));
  }
  for (let at = 0; at < hostCount; at += 1) {
    const name = `h${at}-${label}`;
    await client.create(macHost.resource, macHost.make({ metadata: { name }, spec: { zone: 'fr-par-1' } }));
    const body = { status: { ...freeStatus, name: `tuist-pool-${at}` } };
    await client.patch(macHost.resource, { name }, { type: 'merge', body }, { subresource: 'status' });
  }
};

/** Plays one schedule to its end, then lets every actor finish with fresh caches. Returns the number of claims. */
const playSchedule = async (client: Client, namespace: string, label: string, seed: number): Promise<number> => {
  const random = seeded(seed);
  const hostCount = 1 + Math.floor(random() * 3);
  const ledger = createLedger();
  const watched = ledger.recording(client);
  await setUp(watched, namespace, label, hostCount);
  const turns = createInterleaving(random, 0.03);
  const place = (weight: number) => ({ client: turns.clientOf(watched, weight), ledger, random });
  const givesUp = random() < 0.5 ? 0.2 : 0.7;
  const manager = (): Promise<void> => {
    const isSlow = random() < 0.4;
    const isBehind = random() < 0.4;
    const refreshes = { machines: isBehind ? 0.05 : 0.6, hosts: 0.6 };
    return createManager(place(isSlow ? 0.03 : 1), { refreshes, givesUp }).live(12);
  };
  await turns.play([
    ...Array.from({ length: managerCount }, manager),
    createHostController(place(1)).live(12),
    createUser(place(0.1)).live(Math.floor(random() * 2)),
  ]);

  const calm = { client: watched, ledger, random };
  const last = createManager(calm, { refreshes: { machines: 1, hosts: 1 }, givesUp: 0 });
  const hostController = createHostController(calm);
  for (let round = 0; round < 3; round += 1) {
    await hostController.wipeAll();
    await last.finish();
  }
  const machines = [...ledger.machines.values()];
  const hosts = [...ledger.hosts.values()];
  const reservations = machines.flatMap(({ metadata, status }) =>
    status?.serverID ? [`${metadata.uid} ${status.serverID}`] : [],
  );
  const holdings = hosts.flatMap(({ metadata, spec }) =>
    spec.consumerRef ? [`${spec.consumerRef.uid} ${metadata.name}`] : [],
  );
  assert.deepEqual(
    holdings.sort(),
    reservations.sort(),
    'machines and Macs say the same, and no dead machine holds one',
  );
  assert.equal(holdings.length, Math.min(machines.length, hosts.length), 'no Mac is idle while a machine wants one');
  return ledger.claims;
};

/** For any API server: machines, managers with stale caches and lost responses, and too few hosts. */
export const runClaimSuite = (
  title: string,
  start: () => Promise<ClaimCluster>,
  { schedules, firstSeed = 1 }: { schedules: number; firstSeed?: number },
): void => {
  describe(title, { timeout: 300_000 }, () => {
    let cluster: ClaimCluster;
    before(async () => {
      cluster = await start();
    });
    after(() => cluster.close());

    test(`a Mac never has two machines, and a machine never has two Macs, in ${schedules} schedules`, async () => {
      const client = createClient(cluster.transport, { clock: systemClock });
      const run = randomUUID().slice(0, 8);
      let claims = 0;
      for (let seed = firstSeed; seed < firstSeed + schedules; seed += 1) {
        try {
          claims += await playSchedule(client, cluster.namespace, `${run}-${seed}`, seed);
        } catch (error) {
          throw new Error(`the schedule of seed ${seed} broke a promise: ${String(error)}`, { cause: error });
        }
      }
      assert.ok(claims > schedules, `only ${claims} claims: these schedules show nothing`);
    });
  });
};
