import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { describe, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { type ManualClock, manualClock } from '@tartan/kube/clock';
import { createGitHub, type Happening } from '@tartan/sim-github';
import { jobIntervalMs, keepQueueing, queueOneJob } from '../simulation/job-queue.ts';
import { jobLine, tellJobs } from './job-story.ts';
import { lineOf } from './story.ts';
import { createVoice } from './voice.ts';

const plain = createVoice(new PassThrough(), { colours: false });

/** Whoever sleeps wakes up in between. */
const pass = async (clock: ManualClock, seconds: number): Promise<void> => {
  for (let at = 0; at < seconds; at += 1) {
    clock.advance(1_000);
    await setImmediate();
  }
};

describe('jobs at the simulated GitHub', () => {
  test('each begin and end is a line, and nothing else is', async (t) => {
    const github = createGitHub({ clock: manualClock() });
    t.after(github.stop);
    const job = queueOneJob(github);
    job.conclusion = 'success';
    const lines = (
      [
        ['job queued', undefined],
        ['job started', 'job build-1 begins'],
        ['job finished', 'job build-1 ends: success'],
        ['job lost', 'job build-1 is lost: its runner was not heard of again'],
        ['runner online', undefined],
      ] as const
    ).map(([what, line]) => [what, line === undefined ? undefined : lineOf('macos-runner-1', line)]);
    for (const [what, line] of lines) {
      const happening = { at: 0, what, runner: 'macos-runner-1', job: job.id } as Happening;
      assert.equal(jobLine(happening, github.jobs(), plain), line);
    }
  });

  test('what was there before is no news', async (t) => {
    const clock = manualClock();
    const github = createGitHub({ clock });
    t.after(github.stop);
    const history: Happening[] = [{ at: 0, what: 'job started', runner: 'r', job: 1 }];
    const said: string[] = [];
    const over = new AbortController();
    const voice = { ...plain, say: (line = '') => void said.push(line) };
    const telling = tellJobs({ history, jobs: github.jobs }, voice, over.signal, clock);
    history.push({ at: 0, what: 'job finished', runner: 'r', job: 1 });
    await pass(clock, 1);
    over.abort();
    await telling;
    assert.deepEqual(said, [lineOf('r', 'job 1 ends: unknown')]);
  });

  test('they come at an easy pace, more of them on faster Macs, and never in heaps', async (t) => {
    assert.deepEqual([1, 0.1, 0.01, 0.001].map(jobIntervalMs), [120_000, 120_000, 15_000, 2_000]);
    const clock = manualClock();
    const github = createGitHub({ clock });
    t.after(github.stop);
    const over = new AbortController();
    const queueing = keepQueueing(github, 0.01, over.signal, clock);
    await pass(clock, 61);
    over.abort();
    await queueing;
    assert.deepEqual(
      github.jobs().map(({ name }) => name),
      ['build-1', 'unit-tests-2', 'ui-tests-3', 'archive-4', 'build-5'],
    );
  });
});
