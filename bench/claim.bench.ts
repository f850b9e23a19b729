import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Claim, startClaimHarness } from './claim/harness.ts';
import { type Figure, median } from './figure.ts';

/**
 * The cost of a claim for different numbers of Macs: requests to Scaleway, and time from the machine's creation until it has its
 * `spec.providerID`: claimed, renamed, its credentials stored. The provider, an embedded Kubernetes over HTTPS and a simulated Scaleway
 * over HTTP share this process. Machines are created one at a time, and each Mac is released before the next claim, so that the pool is
 * always complete.
 */

/** Up and down again, so that the JIT compiler favours no size. */
const order = [10, 100, 1_000, 1_000, 100, 10] as const;
const warmUp = 5;
const claims = 8;

export const run = async (say: (line: string) => void): Promise<Figure[]> => {
  const measured = new Map<number, Claim[]>();
  const firsts: number[] = [];
  for (const hosts of order) {
    const folder = await mkdtemp(join(tmpdir(), 'tartan-bench-'));
    try {
      const claiming = await startClaimHarness(folder, hosts);
      try {
        // This machine stays: a fleet without machines deletes its key, and asks Scaleway for it again with the next one.
        const { calls } = await claiming.claim('mac-0');
        firsts.push(calls.length);
        for (let number = 1; number <= warmUp + claims; number++) {
          const claim = await claiming.claim(`mac-${number}`);
          await claiming.giveBack(`mac-${number}`);
          if (number > warmUp) measured.set(hosts, [...(measured.get(hosts) ?? []), claim]);
        }
      } finally {
        await claiming.stop();
      }
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  const latency = (hosts: number): number =>
    median((measured.get(hosts) ?? []).map(({ milliseconds }) => milliseconds));
  const counts = (hosts: number): number[] => (measured.get(hosts) ?? []).map(({ calls }) => calls.length);
  const sizes = [...measured.keys()];
  for (const hosts of sizes) {
    const pages = (measured.get(hosts) ?? []).reduce((sum, claim) => sum + claim.pages, 0);
    say(
      `${hosts} Macs: ${median(counts(hosts))} calls a claim (most ${Math.max(...counts(hosts))}), ${latency(hosts).toFixed(0)} ms; beside ${counts(hosts).length} claims ${pages} pages of the zone were listed`,
    );
  }
  say(
    `the first machine of a fleet takes ${Math.max(...firsts)} calls, with those that register the SSH key of the fleet`,
  );
  const dearest = [...measured.values()].flat().toSorted((a, b) => b.calls.length - a.calls.length)[0];
  for (const call of dearest?.calls ?? []) say(`  ${call}`);
  return [
    {
      what: 'calls to Scaleway in a claim, at most',
      value: Math.max(...sizes.flatMap(counts)),
      unit: 'calls',
      // GET, PATCH, GET; a GET after the settle time, since another cluster may have renamed it; the password.
      goal: '<= 5',
    },
    {
      what: 'time of a claim with 1,000 Macs, against 10',
      value: latency(1_000) / latency(10),
      unit: 'ratio',
      goal: '<= 1.5',
    },
  ];
};
