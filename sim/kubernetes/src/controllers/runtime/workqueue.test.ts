import assert from 'node:assert/strict';
import { test } from 'node:test';
import { manualClock } from '@tartan/kube/clock';
import { resourceVersionConflict } from '../../errors/api-error.ts';
import { backOff, workQueue } from './workqueue.ts';

const pods = { group: '', plural: 'pods', kind: 'Pod' };

const start = (reconcile: (key: string) => void | Promise<void>) => {
  const clock = manualClock();
  const errors: unknown[] = [];
  const queue = workQueue({ clock, reconcile, onError: (error) => errors.push(error) });
  return { clock, errors, queue };
};

test('a key is processed later, never within the call that adds it', () => {
  const seen: string[] = [];
  const { clock, queue } = start((key) => void seen.push(key));
  queue.add('a');
  assert.deepEqual(seen, []);
  clock.advance(0);
  assert.deepEqual(seen, ['a']);
});

test('a key added twice is processed once', () => {
  const seen: string[] = [];
  const { clock, queue } = start((key) => void seen.push(key));
  queue.add('a');
  queue.add('b');
  queue.add('a');
  clock.advance(0);
  assert.deepEqual(seen, ['a', 'b']);
});

test('a key added while it is processed is processed again', () => {
  const seen: string[] = [];
  const { clock, queue } = start((key) => {
    seen.push(key);
    if (seen.length === 1) queue.add(key);
  });
  queue.add('a');
  clock.advance(0);
  assert.deepEqual(seen, ['a', 'a']);
});

test('of several delays the earliest counts, and the key is processed once', () => {
  const seen: number[] = [];
  const { clock, queue } = start(() => void seen.push(clock.now()));
  const begin = clock.now();
  queue.addAfter('a', 500);
  queue.addAfter('a', 100);
  queue.addAfter('a', 300);
  clock.advance(1000);
  assert.deepEqual(
    seen.map((at) => at - begin),
    [100],
  );
});

test('an error is reported, and the key is retried with back-off', () => {
  const seen: number[] = [];
  const { clock, queue, errors } = start(() => {
    seen.push(clock.now());
    if (seen.length < 4) throw new Error('not yet');
  });
  const begin = clock.now();
  queue.add('a');
  clock.advance(60_000);
  assert.deepEqual(
    seen.map((at) => at - begin),
    [0, 5, 15, 35],
  );
  assert.equal(errors.length, 3);
});

test('a success resets the backoff', () => {
  const seen: number[] = [];
  const { clock, queue } = start(() => {
    seen.push(clock.now());
    if (seen.length === 1 || seen.length === 3) throw new Error('now and then');
  });
  const begin = clock.now();
  queue.add('a');
  clock.advance(100);
  queue.add('a');
  clock.advance(100);
  assert.deepEqual(
    seen.map((at) => at - begin),
    [0, 5, 100, 105],
  );
});

test('a conflict is retried and not reported', () => {
  let tries = 0;
  const { clock, queue, errors } = start(() => {
    tries++;
    if (tries === 1) throw resourceVersionConflict(pods, 'p');
  });
  queue.add('a');
  clock.advance(1000);
  assert.equal(tries, 2);
  assert.deepEqual(errors, []);
});

test('the back-off doubles up to half a minute', () => {
  const table: [number, number][] = [
    [1, 5],
    [2, 10],
    [3, 20],
    [13, 20_480],
    [14, 30_000],
    [2000, 30_000],
  ];
  for (const [failures, wait] of table) assert.equal(backOff(failures), wait, String(failures));
});

test('asynchronous keys are processed one at a time, and retried after a failure', async () => {
  const log: string[] = [];
  const releases: (() => void)[] = [];
  const { clock, queue } = start(async (key) => {
    log.push(`begin ${key}`);
    const { promise, resolve } = Promise.withResolvers<void>();
    releases.push(resolve);
    await promise;
    log.push(`end ${key}`);
    if (log.length === 2) throw new Error('once');
  });
  const settled = () => new Promise<void>((resolve) => setImmediate(resolve));
  queue.add('a');
  queue.add('b');
  clock.advance(0);
  assert.deepEqual(log, ['begin a']);
  releases.shift()?.();
  await settled();
  clock.advance(0);
  assert.deepEqual(log, ['begin a', 'end a', 'begin b']);
  releases.shift()?.();
  await settled();
  clock.advance(10);
  assert.deepEqual(log, ['begin a', 'end a', 'begin b', 'end b', 'begin a']);
});

test('after stop nothing runs any more', () => {
  const seen: string[] = [];
  const { clock, queue } = start((key) => void seen.push(key));
  queue.add('a');
  queue.addAfter('b', 10);
  queue.stop();
  queue.add('c');
  clock.advance(1000);
  assert.deepEqual(seen, []);
});
