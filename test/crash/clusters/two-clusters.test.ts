import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { numbersFrom } from '@tartan/kube/testing';
import { createTwoClusters, holdingsOf, type TwoClusters } from './two-clusters.ts';

const minute = 60_000;
const schedules = Number(process.env['TARTAN_SCHEDULES'] ?? (process.env['TARTAN_CRASH'] === 'all' ? 400 : 20));

/** The last events, for failures. */
const lastEvents = ({ history }: TwoClusters): string => history.slice(-60).join('\n');

/** One schedule: machines are created and deleted in both clusters, managers die, and a user renames a Mac now and then. */
const play = async (seed: number): Promise<{ claims: number }> => {
  const random = numbersFrom(seed);
  const pick = <T>(of: readonly T[]): T | undefined => of[Math.floor(random() * of.length)];
  const harness = await createTwoClusters(seed);
  const { time, clusters, scaleway, violations } = harness;
  const alive = new Map(clusters.map((cluster) => [cluster, [] as string[]]));
  try {
    const hosts = 1 + Math.floor(random() * 3);
    for (let each = 1; each <= hosts; each += 1) await harness.order(`tuist-pool-0000000${each}`);
    await time.pass(random() * 90_000);
    let people = 0;
    for (let step = 0; step < 14; step += 1) {
      const cluster = pick(clusters) ?? clusters[0];
      const machines = alive.get(cluster) ?? [];
      const drawn = random();
      if (drawn < 0.25) {
        // Both at once, so that they choose the same Mac.
        for (const [each, names] of alive) if (names.length < hosts) names.push(await each.addMachine());
      } else if (drawn < 0.45 && machines.length < hosts) machines.push(await cluster.addMachine());
      else if (drawn < 0.75 && machines.length > 0)
        await cluster.deleteMachine(machines.splice(Math.floor(random() * machines.length), 1)[0] ?? '');
      else if (drawn < 0.85) await cluster.replaceManager();
      else if (drawn < 0.92) {
        const server = pick(scaleway.servers());
        people += 1;
        const isHeld = clusters.some(({ facts }) => server !== undefined && holdingsOf(facts).has(server.id));
        // A pool name tells every other cluster that the Mac is free: no cluster can protect a held Mac against that.
        if (server !== undefined)
          server.name = isHeld || random() < 0.5 ? `by-hand-${people}` : `tuist-pool-000000f${people}`;
      }
      await time.pass(random() < 0.4 ? random() * 3000 : random() * 4 * minute);
      assert.deepEqual(violations, [], lastEvents(harness));
    }
    // Ends the chaos. A user releases stranded Macs, and there are as many Macs as machines.
    for (const [cluster, machines] of alive) for (const name of machines.splice(1)) await cluster.deleteMachine(name);
    await time.pass(10 * minute);
    const held = new Set(clusters.flatMap(({ facts }) => [...holdingsOf(facts).keys()]));
    scaleway.servers().forEach((server, at) => {
      if (!held.has(server.id) && !/^tuist-(pool|releasing)-/.test(server.name))
        server.name = `tuist-pool-0000001${at}`;
    });
    await time.pass(25 * minute);
    assert.deepEqual(violations, [], lastEvents(harness));
    const machines = clusters.flatMap(({ facts }) => facts.machines().map(({ metadata }) => metadata.name));
    const holdings = clusters.flatMap(({ facts }) => [...holdingsOf(facts)]);
    assert.equal(new Set(holdings.map(([id]) => id)).size, holdings.length, 'no Mac is held twice');
    assert.equal(
      holdings.length,
      Math.min(machines.length, hosts),
      `no Mac is idle while a machine wants one\n${lastEvents(harness)}`,
    );
    for (const [id, name] of holdings) assert.equal(scaleway.servers().find((server) => server.id === id)?.name, name);
    const keys = scaleway.keys().filter(({ name }) => name === 'runners');
    assert.ok(keys.length <= 2, 'each cluster has registered its key once, and removed none of the other');
    return { claims: harness.history.filter((line) => /rename to [ab]-/.test(line)).length };
  } finally {
    harness.stop();
  }
};

describe('two clusters that share a Scaleway project', { timeout: 600_000 }, () => {
  it(`never rename, adopt or wipe a Mac that the other holds, in ${schedules} schedules`, async () => {
    let claims = 0;
    const first = Number(process.env['TARTAN_SEED'] ?? 1);
    for (let seed = first; seed < first + schedules; seed += 1) {
      try {
        claims += (await play(seed)).claims;
      } catch (error) {
        throw new Error(`the schedule of seed ${seed} broke a promise: ${String(error)}`, { cause: error });
      }
    }
    assert.ok(claims > 2 * schedules, `only ${claims} renames: these schedules show little`);
  });
});
