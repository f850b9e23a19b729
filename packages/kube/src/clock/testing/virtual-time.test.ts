import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settle } from './real-time.ts';
import { virtualTime } from './virtual-time.ts';

test('time jumps from timer to timer, in order of time, then of registration', async () => {
  const time = virtualTime(1000);
  const ran: string[] = [];
  time.after(20, () => ran.push(`late at ${time.now()}`));
  time.after(10, () => {
    ran.push(`early at ${time.now()}`);
    time.after(5, () => ran.push(`set meanwhile at ${time.now()}`));
  });
  time.after(10, () => ran.push('early too'));
  time.after(10, () => ran.push('cancelled'))();
  assert.equal(await time.pass(15), false);
  assert.deepEqual(ran, ['early at 1010', 'early too', 'set meanwhile at 1015']);
  assert.deepEqual([time.now(), time.monotonic()], [1015, 15]);
  await time.pass(100);
  assert.deepEqual(ran.slice(3), ['late at 1020']);
  assert.equal(time.now(), 1115);
});

test('time stands still during a request, and until what it began is over', async () => {
  const time = virtualTime(0);
  const answer = Promise.withResolvers<void>();
  const failure = Promise.withResolvers<void>();
  const ended = time
    .during(() => answer.promise)
    .then(() => time.during(() => failure.promise))
    .catch(() => time.now());
  let hasPassed = false;
  const passed = time.pass(10).then(() => (hasPassed = true));
  await settle();
  answer.resolve();
  await settle();
  assert.deepEqual([hasPassed, time.now()], [false, 0]);
  failure.reject(new Error('no answer'));
  await passed;
  assert.deepEqual([await ended, time.now()], [0, 10]);
});

test('it can be stopped before each jump', async () => {
  const time = virtualTime(0);
  let count = 0;
  const again = (): void => {
    count += 1;
    time.after(10, again);
  };
  again();
  assert.equal(await time.pass(1000, () => count === 3), true);
  assert.equal(time.now(), 20);
});
