import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Live } from '../objects/object.ts';
import { createAudience } from './audience.ts';
import { createIndexedStore } from './indexed-store.ts';
import { createReplica } from './replica.ts';
import type { Thing } from './testing/model-server.ts';
import { recordedLog } from './testing/recorded-log.ts';
import { linesOf } from './testing/story.ts';
import type { CacheChange } from './watch-cache.ts';

const thing = (name: string, resourceVersion: string, uid = `${name}1`): Live<Thing> => ({
  metadata: { name, namespace: 'ns', uid, resourceVersion, creationTimestamp: '2026-01-01T00:00:00Z' },
  spec: { color: 'red', step: 0 },
});

const createParts = () => {
  const { log } = recordedLog();
  const store = createIndexedStore<Thing>({}, log);
  const audience = createAudience<CacheChange<Thing>>(log);
  const changes: CacheChange<Thing>[] = [];
  audience.join((change) => changes.push(change), []);
  const replica = createReplica({ store, audience, transform: (object) => object });
  return { store, replica, changes, told: () => linesOf(changes.splice(0)) };
};

test('a second list is told as the difference to the first', () => {
  const { replica, told, store } = createParts();
  replica.replace([thing('a', '1'), thing('b', '2'), thing('c', '3')]);
  assert.deepEqual(told(), ['added a1 1', 'added b1 2', 'added c1 3']);
  const kept = store.get('ns/a');
  replica.replace([thing('a', '1'), thing('b', '5'), thing('d', '6')]);
  assert.deepEqual(told(), ['removed c1', 'changed b1 5', 'added d1 6']);
  assert.equal(store.get('ns/a'), kept);
});

test('what is removed is told with the last state known', () => {
  const { replica, changes } = createParts();
  const last = thing('a', '2');
  replica.replace([last]);
  replica.receive({ type: 'DELETED', object: thing('a', '9') }, '2');
  assert.deepEqual(changes.at(-1), { type: 'removed', previous: last });
});

test('another object of the same name is told as a removal and an addition, by list and by watch', () => {
  const { replica, told } = createParts();
  replica.replace([thing('a', '1', 'first')]);
  replica.replace([thing('a', '4', 'second')]);
  replica.receive({ type: 'MODIFIED', object: thing('a', '8', 'third') }, '4');
  assert.deepEqual(told(), ['added first 1', 'removed first', 'added second 4', 'removed second', 'added third 8']);
});

test('events up to the version reached are known already, also those of objects that are gone', () => {
  const { replica, told } = createParts();
  replica.replace([thing('a', '9')]);
  replica.receive({ type: 'DELETED', object: thing('a', '10') }, '9');
  told();
  replica.receive({ type: 'ADDED', object: thing('a', '9') }, '10');
  replica.receive({ type: 'DELETED', object: thing('a', '10') }, '10');
  assert.deepEqual(told(), []);
});

test('a state that is held is not told again', () => {
  const { replica, told } = createParts();
  replica.receive({ type: 'ADDED', object: thing('a', '10') }, '9');
  replica.receive({ type: 'ADDED', object: thing('a', '10') }, '10');
  replica.receive({ type: 'MODIFIED', object: thing('a', '10') }, '10');
  assert.deepEqual(told(), ['added a1 10']);
});

test('objects that go in one transaction share a version, and all go', () => {
  const { replica, told, store } = createParts();
  replica.replace([thing('a', '1'), thing('b', '2')]);
  replica.receive({ type: 'DELETED', object: thing('a', '7') }, '2');
  replica.receive({ type: 'DELETED', object: thing('b', '7') }, '7');
  assert.deepEqual(told().slice(2), ['removed a1', 'removed b1']);
  assert.equal(store.size, 0);
});

test('a list is the truth even where it is older: the storage of the server was restored', () => {
  const { replica, told } = createParts();
  replica.replace([thing('a', '100')]);
  replica.replace([thing('a', '50')]);
  assert.deepEqual(told(), ['added a1 100', 'changed a1 50']);
});
