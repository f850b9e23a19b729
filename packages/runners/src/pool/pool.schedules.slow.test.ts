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
  readonly stage: Harness;
  readonly random: () => number;
  process: Process;
}
type Move = readonly [weight: number, what: string, move: (play: Play) => Promise<unknown>];

const among = <T>(random: () => number, items: readonly T[]): T | undefined =>
  items[Math.floor(random() * items.length)];

/** What users, operators, machines and GitHub do to a pool. None of it may cost a job. */
const moves: readonly Move[] = [
  [6, 'a job is queued', async ({ stage }) => stage.queueJob()],
  [2, 'scaled', ({ stage, random }) => stage.setSpec({ replicas: Math.floor(random() * 5) })],
  [2, 'rolled', ({ stage, random }) => stage.setSpec({ image: `macos:${Math.floor(random() * 3)}` })],
  [
    2,
    'cordoned',
    async ({ stage, random }) => {
      const mac = among(random, stage.macs.slice(0, 2));
      if (mac !== undefined) await stage.cordon(mac, random() < 0.5);
    },
  ],
  [
    2,
    'a Mac falls silent, or is heard again',
    async ({ stage, random }) => among(random, stage.macs)?.setSilent(random() < 0.4),
  ],
  [
    2,
    'the process dies',
    async (play) => {
      await play.process.stop();
      play.process = await play.stage.start();
    },
  ],
  [
    1,
    'GitHub goes away, or comes back',
    async ({ stage, random }) => {
      stage.github.faults.outage.api = random() < 0.5 ? 503 : undefined;
    },
  ],
  [
    2,
    'GitHub shows what was a while ago',
    async ({ stage, random }) => {
      stage.github.faults.staleBusyFor = random() < 0.6 ? 20_000 : 0;
      stage.github.faults.deleteWhileStale = random() < 0.5 ? 'accepted' : 'refused';
    },
  ],
  [
    2,
    'a job comes right after an idle answer',
    async ({ stage }) => stage.github.faults.jobsAfterIdle.push({ repository: 'acme/app', labels: ['macOS'] }),
  ],
  [
    2,
    'answers are lost',
    async ({ stage, random }) =>
      stage.github.faults.calls.push({ match: /runners/, times: 1, with: random() < 0.5 ? 'lost' : { status: 502 } }),
  ],
  [1, 'runners do not notice', async ({ stage, random }) => void (stage.settings.notices = random() < 0.5)],
  [
    1,
    'the pool is deleted, and made again',
    async ({ stage }) => {
      const pool = await stage.pool();
      if (pool === undefined) await stage.addPool(2);
      else if (pool.metadata.finalizers?.includes(finalizers.runnerPool)) await stage.deletePool();
    },
  ],
];
const total = moves.reduce((sum, [weight]) => sum + weight, 0);
const moveAt = (at: number): Move | undefined => moves.find(([weight]) => (at -= weight) < 0);

/** Plays a random schedule. An error has its whole story. */
const playSchedule = async (seed: number): Promise<void> => {
  const random = seeded(seed);
  const stage = await createHarness({ macs: 2, slots: 2, random });
  const story: string[] = [];
  try {
    await stage.addSecret();
    await stage.addPool(2);
    stage.settings.jobMs = 90_000;
    const play: Play = { stage, random, process: await stage.start() };
    await stage.advance(20, 5);
    for (let step = 0; step < 25; step += 1) {
      const [, what, move] = moveAt(random() * total) ?? [];
      story.push(`${stage.clock.now()} ${what}`);
      await move?.(play).catch((error: unknown) => story.push(String(error)));
      const seconds = random() < 0.8 ? 5 : 60;
      await stage.advance(seconds, 5);
      assert.deepEqual(stage.killed, [], `killed with a job: ${story.join('\n')}`);
    }
    await calm(stage);
    assert.deepEqual([stage.killed, stage.github.lostJobs()], [[], []], story.join('\n'));
    await isConverged(stage, story);
  } finally {
    await stage.end();
  }
};

/** Ends all faults, and lets enough time pass. */
const calm = async (stage: Harness): Promise<void> => {
  const { faults } = stage.github;
  faults.outage.api = undefined;
  faults.staleBusyFor = 0;
  faults.calls.length = 0;
  faults.jobsAfterIdle.length = 0;
  stage.settings.notices = true;
  for (const mac of stage.macs) {
    await mac.setSilent(false);
    await stage.cordon(mac, false);
  }
  await stage.advance(300, 10);
  if ((await stage.pool()) === undefined) await stage.addPool(1);
  await stage.setSpec({ replicas: 2, image: 'macos:1' });
  await stage.advance(15 * 60, 20);
};

const isConverged = async (stage: Harness, story: readonly string[]): Promise<void> => {
  const pool = await stage.pool();
  const { replicas, warm = 0, busy = 0, stale } = pool?.status ?? {};
  const tale = `${story.join('\n')}\n${JSON.stringify(pool?.status, undefined, 1)}\n${stage.errors.slice(-3).join('')}`;
  assert.deepEqual([replicas, warm + busy, stale], [2, 2, 0], tale);
  const names = (await stage.pods()).map(({ metadata }) => metadata.name).sort();
  assert.deepEqual((await stage.accounts()).map(({ metadata }) => metadata.name).sort(), names, tale);
};

describe('a pool under random events', () => {
  test(`no job is lost, and it becomes what is wanted, in ${schedules} schedules`, async () => {
    for (let seed = 1; seed <= schedules; seed += 1)
      await playSchedule(seed).catch((error: unknown) => {
        throw new Error(`schedule ${seed}`, { cause: error });
      });
  });
});
