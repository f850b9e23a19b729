import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Figure } from './figure.ts';
import { type Fleet, type Harness, startHarness } from './roll-memory/harness.ts';
import { watchRollout } from './roll-memory/rollout-watch.ts';
import { heavySoftware, lightSoftware } from './roll-memory/software.ts';

/**
 * The memory of the manager while it rolls many Macs at once, with new software of 96 MB on each. It is one bundled program in its own
 * process; Kubernetes, Scaleway, the Macs and their agents are in this one. Each fleet is rolled by a new manager, and its peak since its
 * start counts.
 */

const [few, many] = [4, 16];

interface Roll {
  /** MB. */
  readonly peak: number;
  readonly atOnce: number;
  /** Seconds. */
  readonly longestGap: number;
}

export const run = async (say: (line: string) => void): Promise<Figure[]> => {
  // In memory if possible: otherwise a slow disk would be measured.
  const folder = await mkdtemp(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'tartan-bench-'));
  const stops = [() => rm(folder, { recursive: true, force: true })];
  try {
    const [light, heavy] = [await lightSoftware(folder), await heavySoftware(folder)];
    const harness = await startHarness(folder, [few, many]);
    stops.push(harness.stop);
    const began = performance.now();
    const first = await harness.startManager(light);
    await Promise.race([harness.makeReady(), first.broken]);
    await first.stop();
    say(`${harness.servers.length} Macs are ready after ${secondsSince(began)} s`);

    const rolls: Roll[] = [];
    for (const fleet of harness.fleets) {
      const started = performance.now();
      const roll = await measureRoll(harness, fleet, heavy);
      rolls.push(roll);
      say(
        `${fleet.size} Macs at once, after the first: ${roll.peak.toFixed(0)} MB resident at most, ${secondsSince(started)} s; ${roll.atOnce} of them at the same time; at most ${roll.longestGap.toFixed(1)} s between two renewals of the lease`,
      );
    }
    return figuresOf(rolls);
  } finally {
    for (const stop of stops.toReversed()) await stop();
  }
};

const secondsSince = (began: number): string => ((performance.now() - began) / 1000).toFixed(0);

const measureRoll = async (harness: Harness, fleet: Fleet, software: readonly string[]): Promise<Roll> => {
  const watching = await watchRollout(harness.client, harness.servers);
  try {
    const manager = await harness.startManager(software);
    await Promise.race([harness.roll(fleet), manager.broken]);
    const peak = manager.peak();
    await manager.stop();
    return { peak, atOnce: watching.mostAtOnce(), longestGap: watching.longestGap() / 1000 };
  } finally {
    await watching.stop();
  }
};

const figuresOf = (rolls: readonly Roll[]): Figure[] => {
  const nothing: Roll = { peak: Number.NaN, atOnce: Number.NaN, longestGap: Number.NaN };
  const [ofFew = nothing, ofMany = nothing] = rolls;
  return [
    {
      what: `peak memory of the manager that rolls ${many} Macs at once`,
      value: ofMany.peak,
      unit: 'MB',
      goal: '<= 200',
    },
    {
      what: 'peak memory for each further Mac',
      value: (ofMany.peak - ofFew.peak) / (many - few),
      unit: 'MB',
      goal: '<= 4',
    },
    { what: 'Macs that were worked on at the same time', value: ofMany.atOnce, unit: 'Macs', goal: `>= ${many}` },
    {
      what: 'longest time between two renewals of the lease',
      value: Math.max(ofFew.longestGap, ofMany.longestGap),
      unit: 's',
      goal: '< 10',
    },
  ];
};
