import assert from 'node:assert/strict';
import { test } from 'node:test';
import { getHeapStatistics } from 'node:v8';
import { manualClock } from '@tartan/kube/clock';
import { releaseHeapMemory } from './program.ts';

test('releases heap memory after the start, until it is stopped', async () => {
  const clock = manualClock();
  const end = new AbortController();
  const done = releaseHeapMemory(clock, end.signal);
  let garbage: unknown[] | undefined = Array.from({ length: 200_000 }, (_, at) => ({ at }));
  const filled = getHeapStatistics().total_heap_size;
  assert.equal(garbage.length, 200_000);
  garbage = undefined;
  clock.advance(30_000);
  await Promise.resolve();
  await Promise.resolve();
  assert.ok(getHeapStatistics().total_heap_size < filled - 4_000_000);
  end.abort();
  await done;
  assert.equal(garbage, undefined);
});
