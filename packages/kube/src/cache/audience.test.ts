import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { createAudience } from './audience.ts';
import { recordedLog } from './testing/recorded-log.ts';

test('a listener hears the past, then everything that comes, in order', () => {
  const audience = createAudience<string>(recordedLog().log);
  const heard: string[] = [];
  audience.join((change) => heard.push(change), ['one', 'two']);
  audience.tell('three');
  audience.tell('four');
  assert.deepEqual(heard, ['one', 'two', 'three', 'four']);
});

test('a listener that throws is logged, hears on, and the others do not notice', () => {
  const { log, lines } = recordedLog();
  const audience = createAudience<string>(log);
  const heard: string[] = [];
  audience.join(
    (change) => {
      heard.push(`bad ${change}`);
      throw new Error('bad listener');
    },
    ['past'],
  );
  audience.join((change) => heard.push(`good ${change}`), []);
  audience.tell('one');
  audience.tell('two');
  assert.deepEqual(heard, ['bad past', 'bad one', 'good one', 'bad two', 'good two']);
  assert.equal(lines.length, 3);
  assert.equal(lines[0]?.level, 'error');
});

test('the rejection of an async listener is logged and ends nothing', async () => {
  const { log, lines } = recordedLog();
  const audience = createAudience<string>(log);
  // What a careless caller can pass, since a function that answers something fits where one that answers nothing is asked for.
  const careless: (change: string) => unknown = () => Promise.reject(new Error('late'));
  audience.join(careless, []);
  audience.tell('one');
  await setImmediate();
  assert.equal(lines.length, 1);
});

test('who joins during a round does not hear its change twice', () => {
  const audience = createAudience<string>(recordedLog().log);
  const heard: string[] = [];
  let joined = false;
  audience.join((change) => {
    if (joined) return;
    joined = true;
    audience.join((inner) => heard.push(inner), [change]);
  }, []);
  audience.tell('one');
  audience.tell('two');
  assert.deepEqual(heard, ['one', 'two']);
});

test('who leaves is not called any more, not even in the round under way; the same function elsewhere is', () => {
  const audience = createAudience<string>(recordedLog().log);
  const heard: string[] = [];
  const leaves: (() => void)[] = [];
  audience.join(() => {
    for (const leave of leaves) leave();
  }, []);
  const listener = (change: string): void => void heard.push(change);
  leaves.push(audience.join(listener, []));
  audience.join(listener, []);
  audience.tell('one');
  audience.tell('two');
  assert.deepEqual(heard, ['one', 'two']);
});
