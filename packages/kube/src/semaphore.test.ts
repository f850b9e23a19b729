import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSemaphore } from './semaphore.ts';

/** Functions that end on demand, and the order of their starts. */
const works = () => {
  const started: string[] = [];
  const endings = new Map<string, PromiseWithResolvers<void>>();
  const start = (name: string) => () => {
    started.push(name);
    const ending = Promise.withResolvers<void>();
    endings.set(name, ending);
    return ending.promise;
  };
  return { started, start, endings };
};

test('starts as many tasks as there are slots, and the next when one ends or fails', async () => {
  const { started, start, endings } = works();
  const semaphore = createSemaphore(2);
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((name) => semaphore(start(name)));
  assert.deepEqual(started, ['a', 'b']);
  endings.get('b')?.resolve();
  await b;
  assert.deepEqual(started, ['a', 'b', 'c']);
  endings.get('a')?.reject(new Error('no'));
  await assert.rejects(a ?? Promise.resolve(), /no/);
  assert.deepEqual(started, ['a', 'b', 'c', 'd']);
  for (const name of ['c', 'd']) endings.get(name)?.resolve();
  await Promise.all([c, d]);
});

test('a task aborted while it waits is not started, and uses no slot', async () => {
  const { started, start, endings } = works();
  const semaphore = createSemaphore(1);
  const first = semaphore(start('first'));
  const aborting = new AbortController();
  const aborted = semaphore(start('aborted'), aborting.signal);
  const last = semaphore(start('last'));
  aborting.abort(new Error('enough'));
  await assert.rejects(aborted, /enough/);
  endings.get('first')?.resolve();
  await first;
  endings.get('last')?.resolve();
  await last;
  assert.deepEqual(started, ['first', 'last']);
  await assert.rejects(semaphore(start('late'), aborting.signal), /enough/);
});
