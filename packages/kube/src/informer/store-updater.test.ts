import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { Live } from '../objects/object.ts';
import { createIndexedStore } from './indexed-store.ts';
import type { InformerEvent } from './informer.ts';
import { createListeners, createStoreUpdater } from './store-updater.ts';
import { formatEvents } from './testing/event-log.ts';
import type { Thing } from './testing/model-server.ts';
import { recordedLog } from './testing/recorded-log.ts';

const thing = (name: string, resourceVersion: string, uid = `${name}1`): Live<Thing> => ({
  metadata: { name, namespace: 'ns', uid, resourceVersion, creationTimestamp: '2026-01-01T00:00:00Z' },
  spec: { color: 'red', step: 0 },
});

const createParts = () => {
  const { log } = recordedLog();
  const store = createIndexedStore<Thing>({}, log);
  const listeners = createListeners<InformerEvent<Thing>>(log);
  const changes: InformerEvent<Thing>[] = [];
  listeners.subscribe((change) => changes.push(change), []);
  const replica = createStoreUpdater({ store, listeners, transform: (object) => object });
  return { store, replica, changes, seen: () => formatEvents(changes.splice(0)) };
};

test('a second list notifies the difference to the first', () => {
  const { replica, seen, store } = createParts();
  replica.replace([thing('a', '1'), thing('b', '2'), thing('c', '3')]);
  assert.deepEqual(seen(), ['added a1 1', 'added b1 2', 'added c1 3']);
  const kept = store.get('ns/a');
  replica.replace([thing('a', '1'), thing('b', '5'), thing('d', '6')]);
  assert.deepEqual(seen(), ['removed c1', 'changed b1 5', 'added d1 6']);
  assert.equal(store.get('ns/a'), kept);
});

test('of a listed object the stored one is kept if it has the same version', () => {
  const { replica, store } = createParts();
  replica.replace([thing('a', '1')]);
  const held = store.get('ns/a');
  assert.equal(replica.keptOf(thing('a', '1')), held);
  for (const other of [thing('a', '2'), thing('a', '1', 'recreated'), thing('b', '1')])
    assert.equal(replica.keptOf(other), other);
});

test('a removal notifies the last known state', () => {
  const { replica, changes } = createParts();
  const last = thing('a', '2');
  replica.replace([last]);
  replica.apply({ type: 'DELETED', object: thing('a', '9') }, '2');
  assert.deepEqual(changes.at(-1), { type: 'removed', previous: last });
});

test('an object recreated with the same name notifies a removal and an addition, by list and by watch', () => {
  const { replica, seen } = createParts();
  replica.replace([thing('a', '1', 'first')]);
  replica.replace([thing('a', '4', 'second')]);
  replica.apply({ type: 'MODIFIED', object: thing('a', '8', 'third') }, '4');
  assert.deepEqual(seen(), ['added first 1', 'removed first', 'added second 4', 'removed second', 'added third 8']);
});

test('events up to the current version are ignored, also those of deleted objects', () => {
  const { replica, seen } = createParts();
  replica.replace([thing('a', '9')]);
  replica.apply({ type: 'DELETED', object: thing('a', '10') }, '9');
  seen();
  replica.apply({ type: 'ADDED', object: thing('a', '9') }, '10');
  replica.apply({ type: 'DELETED', object: thing('a', '10') }, '10');
  assert.deepEqual(seen(), []);
});

test('a stored state is not notified again', () => {
  const { replica, seen } = createParts();
  replica.apply({ type: 'ADDED', object: thing('a', '10') }, '9');
  replica.apply({ type: 'ADDED', object: thing('a', '10') }, '10');
  replica.apply({ type: 'MODIFIED', object: thing('a', '10') }, '10');
  assert.deepEqual(seen(), ['added a1 10']);
});

test('objects deleted in one transaction share a version, and all are removed', () => {
  const { replica, seen, store } = createParts();
  replica.replace([thing('a', '1'), thing('b', '2')]);
  replica.apply({ type: 'DELETED', object: thing('a', '7') }, '2');
  replica.apply({ type: 'DELETED', object: thing('b', '7') }, '7');
  assert.deepEqual(seen().slice(2), ['removed a1', 'removed b1']);
  assert.equal(store.size, 0);
});

test('a list replaces the store even if it is older, as after a restore of the server', () => {
  const { replica, seen } = createParts();
  replica.replace([thing('a', '100')]);
  replica.replace([thing('a', '50')]);
  assert.deepEqual(seen(), ['added a1 100', 'changed a1 50']);
});

test('a new listener gets the current objects first, then every event in order', () => {
  const listeners = createListeners<string>(recordedLog().log);
  const received: string[] = [];
  listeners.subscribe((change) => received.push(change), ['one', 'two']);
  listeners.notify('three');
  listeners.notify('four');
  assert.deepEqual(received, ['one', 'two', 'three', 'four']);
});

test('a listener that throws is logged, stays subscribed, and does not affect the others', () => {
  const { log, lines } = recordedLog();
  const listeners = createListeners<string>(log);
  const received: string[] = [];
  listeners.subscribe(
    (change) => {
      received.push(`bad ${change}`);
      throw new Error('bad listener');
    },
    ['past'],
  );
  listeners.subscribe((change) => received.push(`good ${change}`), []);
  listeners.notify('one');
  listeners.notify('two');
  assert.deepEqual(received, ['bad past', 'bad one', 'good one', 'bad two', 'good two']);
  assert.equal(lines.length, 3);
  assert.equal(lines[0]?.level, 'error');
});

test('the rejection of an async listener is logged and ends nothing', async () => {
  const { log, lines } = recordedLog();
  const listeners = createListeners<string>(log);
  // TypeScript accepts a function with a result where one without is expected.
  const rejecting: (change: string) => unknown = () => Promise.reject(new Error('late'));
  listeners.subscribe(rejecting, []);
  listeners.notify('one');
  await setImmediate();
  assert.equal(lines.length, 1);
});

test('a listener added during a notification does not get the event twice', () => {
  const listeners = createListeners<string>(recordedLog().log);
  const received: string[] = [];
  let joined = false;
  listeners.subscribe((change) => {
    if (joined) return;
    joined = true;
    listeners.subscribe((inner) => received.push(inner), [change]);
  }, []);
  listeners.notify('one');
  listeners.notify('two');
  assert.deepEqual(received, ['one', 'two']);
});

test('an unsubscribed listener is not called again, not even in the current notification; another subscription of the same function is', () => {
  const listeners = createListeners<string>(recordedLog().log);
  const received: string[] = [];
  const unsubscribes: (() => void)[] = [];
  listeners.subscribe(() => {
    for (const unsubscribe of unsubscribes) unsubscribe();
  }, []);
  const listener = (change: string): void => void received.push(change);
  unsubscribes.push(listeners.subscribe(listener, []));
  listeners.subscribe(listener, []);
  listeners.notify('one');
  listeners.notify('two');
  assert.deepEqual(received, ['one', 'two']);
});
