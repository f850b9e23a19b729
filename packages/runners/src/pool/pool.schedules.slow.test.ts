import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { finalizers } from '@tartan/api';
import { createHarness, type Harness } from './testing/harness.ts';
import type { Process } from './testing/process.ts';

/** Each takes a second. `decide.property.test.ts` tests the rules alone on thousands. */
const schedules = process.env['TARTAN_CRASH'] === 'all' ? 300 : 12;

const seeded = (seed: number) => () => {
  seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff;
  return seed / 0x80000000;
};

interface Play {
  readonly harness: Harness;
  readonly random: () => number;
  process: Process;
}
type Move = readonly [weight: number, what: string, move: (play: Play) => Promise<unknown>];

const among = <T>(random: () => number, items: readonly T[]): T | undefined =>
  items[Math.floor(random() * items.length)];

/** What users, operators, machines and GitHub do to a pool. None of it may cost a job. */
const moves: readonly Move[] = [
  [6, 'a job is queued', async ({ harness }) => harness.queueJob()],
  [2, 'scaled', ({ harness, random }) => harness.setSpec({ replicas: Math.floor(random() * 5) })],
  [2, 'rolled', ({ harness, random }) => harness.setSpec({ image: `macos:${Math.floor(random() * 3)}` })],
  [
    2,
    'cordoned',
    async ({ harness, random }) => {
      const mac = among(random, harness.macs.slice(0, 2));
      if (mac !== undefined) await harness.cordon(mac, random() < 0.5);
    },
  ],
  [
    2,
    'a Mac becomes not Ready, or Ready again',
    async ({ harness, random }) => among(random, harness.macs)?.setSilent(random() < 0.4),
  ],
  [
    2,
    'the process dies',
    async (play) => {
      await play.process.stop();
      play.process = await play.harness.start();
    },
  ],
  [
    1,
    'GitHub goes away, or comes back',
    async ({ harness, random }) => {
      harness.github.faults.outage.api = random() < 0.5 ? 503 : undefined;
    },
  ],
  [
    2,
    'GitHub shows what was a while ago',
    async ({ harness, random }) => {
      harness.github.faults.staleBusyFor = random() < 0.6 ? 20_000 : 0;
      harness.github.faults.deleteWhileStale = random() < 0.5 ? 'accepted' : 'refused';
    },
  ],
  [
    2,
    'a job comes right after an idle answer',
    async ({ harness }) => harness.github.faults.jobsAfterIdle.push({ repository: 'acme/app', labels: ['macOS'] }),
  ],
  [
    2,
    'answers are lost',
    async ({ harness, random }) =>
      harness.github.faults.calls.push({ match: /runners/, times: 1, with: random() < 0.5 ? 'lost' : { status: 502 } }),
  ],
  [1, 'runners do not notice', async ({ harness, random }) => void (harness.settings.notices = random() < 0.5)],
  [
    1,
    'the pool is deleted, and made again',
    async ({ harness }) => {
      const pool = await harness.pool();
      if (pool === undefined) await harness.addPool(2);
      else if (pool.metadata.finalizers?.includes(finalizers.runnerPool)) await harness.deletePool();
    },
  ],
];
const total = moves.reduce((sum, [weight]) => sum + weight, 0);
const moveAt = (at: number): Move | undefined => moves.find(([weight]) => (at -= weight) < 0);

/** Plays a random schedule. An error contains all steps. */
const playSchedule = async (seed: number): Promise<void> => {
  const random = seeded(seed);
  const harness = await createHarness({ macs: 2, slots: 2, random });
  const steps: string[] = [];
  try {
    await harness.addSecret();
    await harness.addPool(2);
    harness.settings.jobMs = 90_000;
    const play: Play = { harness, random, process: await harness.start() };
    await harness.advance(20, 5);
    for (let step = 0; step < 25; step += 1) {
      const [, what, move] = moveAt(random() * total) ?? [];
      steps.push(`${harness.clock.now()} ${what}`);
      await move?.(play).catch((error: unknown) => steps.push(String(error)));
      const seconds = random() < 0.8 ? 5 : 60;
      await harness.advance(seconds, 5);
      assert.deepEqual(harness.killed, [], `killed with a job: ${steps.join('\n')}`);
    }
    await endFaults(harness);
    assert.deepEqual([harness.killed, harness.github.lostJobs()], [[], []], steps.join('\n'));
    await isConverged(harness, steps);
  } finally {
    await harness.end();
  }
};

/** Ends all faults, and lets enough time pass. */
const endFaults = async (harness: Harness): Promise<void> => {
  const { faults } = harness.github;
  faults.outage.api = undefined;
  faults.staleBusyFor = 0;
  faults.calls.length = 0;
  faults.jobsAfterIdle.length = 0;
  harness.settings.notices = true;
  for (const mac of harness.macs) {
    await mac.setSilent(false);
    await harness.cordon(mac, false);
  }
  await harness.advance(300, 10);
  if ((await harness.pool()) === undefined) await harness.addPool(1);
  await harness.setSpec({ replicas: 2, image: 'macos:1' });
  await harness.advance(15 * 60, 20);
};

const isConverged = async (harness: Harness, steps: readonly string[]): Promise<void> => {
  const pool = await harness.pool();
  const { replicas, warm = 0, busy = 0, stale } = pool?.status ?? {};
  const report = `${steps.join('\n')}\n${JSON.stringify(pool?.status, undefined, 1)}\n${harness.errors.slice(-3).join('')}`;
  assert.deepEqual([replicas, warm + busy, stale], [2, 2, 0], report);
  const names = (await harness.pods()).map(({ metadata }) => metadata.name).sort();
  assert.deepEqual((await harness.accounts()).map(({ metadata }) => metadata.name).sort(), names, report);
};

describe('a pool under random events', () => {
  test(`no job is lost, and the pool converges, in ${schedules} schedules`, async () => {
    for (let seed = 1; seed <= schedules; seed += 1)
      await playSchedule(seed).catch((error: unknown) => {
        throw new Error(`schedule ${seed}`, { cause: error });
      });
  });
});
