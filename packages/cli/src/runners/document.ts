import { z } from 'zod';
import { dated, nullable } from '../show/schema.ts';

/** How a pool is, the worst first: the first one that holds is its state. */
export const poolStates = [
  'unseen',
  'deleting',
  'no github',
  'github away',
  'starved',
  'saturated',
  'no room',
  'stuck',
  'rolling',
  'draining',
  'filling',
  'ready',
] as const;

const pool = z.object({
  namespace: z.string(),
  pool: z.string(),
  fleet: z.string().describe('On whose Macs its Pods run.'),
  image: z.string(),
  github: nullable(z.string(), 'The organisation or repository that its runners belong to.'),
  wanted: z.number(),
  alive: nullable(z.number(), 'Pods that have not ended.'),
  warm: nullable(z.number(), 'Pods that wait for a job.'),
  busy: nullable(z.number(), 'Pods that have a job, or may have one.'),
  retiring: nullable(z.number(), 'Pods that get no more jobs, and are about to end.'),
  stale: nullable(z.number(), 'Pods with another image than is wanted.'),
  stuck: nullable(z.number(), 'Pods that never started, or do not go away.'),
  stuckSince: nullable(z.string(), 'Since when the oldest of those is stuck.'),
  queue: nullable(
    z.object({
      jobs: z.number(),
      oldestSince: nullable(z.string(), 'Since when the oldest job waits.'),
      observedAt: z.string().describe('When GitHub was asked.'),
    }),
    'Jobs that ask for these runners and have none. null: nobody could tell.',
  ),
  reaped: nullable(z.number(), 'Pods that have ended and were taken away, in all.'),
  state: z.enum(poolStates),
  why: z.string().describe('The same in words.'),
  also: z.array(z.string()).describe('What else is the matter, in words of `state`.'),
});

const pod = z.object({
  name: z.string(),
  node: nullable(z.string()),
  phase: z.string().describe('Of the Pod; Terminating: it was deleted.'),
  waiting: nullable(z.string(), 'What it waits for, in the word of its agent.'),
  job: z.enum(['none', 'started', 'unknown']).describe("The guest's own word, told by the agent."),
  runnerID: nullable(z.number(), 'The runner at GitHub. null: it was given no configuration yet, so it has no job.'),
  retiredSince: nullable(z.string(), 'Since when GitHub gives it no job any more.'),
  stale: z.boolean().describe('It has another image than the pool wants.'),
  createdAt: nullable(z.string()),
});

const finished = z.object({
  name: z.string(),
  node: nullable(z.string()),
  hadJob: nullable(z.boolean(), 'null: nobody knows.'),
  exitCode: nullable(z.number()),
  reason: nullable(z.string()),
  startedAt: nullable(z.string()),
  finishedAt: nullable(z.string()),
});

export const runnersDocument = dated('tartan.runners/v1', {
  pools: z.array(pool),
  pods: nullable(z.array(pod), 'Of the pool that was named. null: none was, or Pods may not be read.'),
  finished: nullable(z.array(finished), 'The last that ended, of the pool that was named; the latest first.'),
});

export type RunnersDocument = z.infer<typeof runnersDocument>;
export type PoolRow = z.infer<typeof pool>;
export type PodRow = z.infer<typeof pod>;
export type FinishedRow = z.infer<typeof finished>;
