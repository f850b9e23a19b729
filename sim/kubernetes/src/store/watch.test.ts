import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Core } from './store.ts';
import { options, put, remove, thing, things, thingsCore } from './testing/thing-resource.ts';
import { type WatchEvent, watchObjects } from './watch.ts';

const watch = (core: Core, query: string, signal = new AbortController().signal) =>
  watchObjects(core, things, '', options(query, true), signal);

const format = (events: WatchEvent[]): string[] =>
  events.map(({ type, object }) => ('name' in object.metadata ? `${type} ${object.metadata.name}` : type));

/** The next batch; the watch must have one. */
const next = async (events: AsyncGenerator<WatchEvent[]>): Promise<WatchEvent[]> => (await events.next()).value ?? [];

test('without a resource version a watch begins with existing objects', async () => {
  const core = thingsCore();
  put(core, thing('a'));
  const events = watch(core, '');
  assert.deepEqual(format(await next(events)), ['ADDED a']);
  put(core, thing('b'));
  remove(core, 'a');
  assert.deepEqual(format(await next(events)), ['ADDED b', 'DELETED a']);
  await events.return(undefined);
});

test('an object that enters or leaves the selector is added or deleted', async () => {
  const core = thingsCore();
  const since = core.storage.revision;
  put(core, thing('a', 'default', { colour: 'red' }));
  put(core, thing('a', 'default', { colour: 'blue' }));
  put(core, thing('a', 'default', { colour: 'blue', size: 1 }));
  const left = put(core, thing('a', 'default', { colour: 'red' }));
  const events = await next(watch(core, `fieldSelector=spec.colour=blue&resourceVersion=${since}`));
  assert.deepEqual(format(events), ['ADDED a', 'MODIFIED a', 'DELETED a']);
  const last = events.at(-1);
  assert.equal(last?.object.metadata.resourceVersion, left.metadata.resourceVersion);
  assert.deepEqual(last && { ...last.object, metadata: undefined }, {
    ...thing('a', 'default', { colour: 'blue', size: 1 }),
    metadata: undefined,
  });
});

test('a watch from a compacted resource version gets 410 and ends', async () => {
  const core = thingsCore(4);
  for (let count = 0; count < 20; count++) put(core, thing('a'));
  const events = watch(core, 'resourceVersion=2');
  const [error] = await next(events);
  assert.ok(error?.type === 'ERROR');
  assert.equal(error.object.code, 410);
  assert.equal((await events.next()).done, true);
});

test('initial events end with an annotated bookmark', async () => {
  const core = thingsCore();
  put(core, thing('a'));
  const events = await next(
    watch(core, 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true'),
  );
  assert.deepEqual(
    events.map(({ type }) => type),
    ['ADDED', 'BOOKMARK'],
  );
  const [, end] = events;
  assert.ok(end?.type === 'BOOKMARK');
  assert.deepEqual(end.object.metadata.annotations, { 'k8s.io/initial-events-end': 'true' });
});

test('bookmarks are sent each minute, and only on request', async () => {
  const core = thingsCore();
  const asked = watch(core, 'allowWatchBookmarks=true&resourceVersion=1');
  const silent = watch(core, 'resourceVersion=1');
  const bookmark = asked.next();
  const other = silent.next();
  core.clock.advance(60_000);
  assert.deepEqual(format((await bookmark).value ?? []), ['BOOKMARK']);
  put(core, thing('a'));
  assert.deepEqual(format((await other).value ?? []), ['ADDED a']);
  await Promise.all([asked.return(undefined), silent.return(undefined)]);
});

test('a watch ends at its timeout', async () => {
  const core = thingsCore();
  const ended = watch(core, 'timeoutSeconds=5&resourceVersion=1').next();
  core.clock.advance(5_000);
  assert.equal((await ended).done, true);
});

test('a watch ends when its client disconnects', async () => {
  const core = thingsCore();
  const client = new AbortController();
  const ended = watch(core, 'resourceVersion=1', client.signal).next();
  client.abort();
  assert.equal((await ended).done, true);
});

test('a watch of a client that is gone before it begins leaves no timer and no subscription behind', async () => {
  const core = thingsCore();
  const left: string[] = [];
  const clock = {
    ...core.clock,
    after: (milliseconds: number) => {
      left.push(`timer of ${milliseconds} ms`);
      return () => {};
    },
  };
  const subscribe = () => {
    left.push('subscription');
    return () => {};
  };
  const storage = { ...core.storage, subscribe };
  const events = watch({ ...core, clock, storage }, 'allowWatchBookmarks=true&resourceVersion=1', AbortSignal.abort());
  await events.return(undefined);
  assert.deepEqual(left, []);
});

test('a client that does not read is disconnected', async () => {
  const core = thingsCore();
  const events = watch(core, '');
  put(core, thing('a'));
  await next(events);
  for (let count = 0; count < 3_000; count++) put(core, thing('a'));
  assert.ok((await next(events)).length < 3_000);
  assert.equal((await events.next()).done, true);
});

test('a watch that resumes at any version gets each change once, in order', async () => {
  const write = fc.record({ name: fc.constantFrom('a', 'b'), gone: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.array(write, { minLength: 1, maxLength: 20 }), fc.nat(), async (writes, cut) => {
      const core = thingsCore();
      const since = core.storage.revision;
      for (const { name, gone } of writes) {
        if (gone) remove(core, name);
        else put(core, thing(name));
      }
      const [first, last] = [since, core.storage.revision];
      if (first === last) return;
      const resume = first + (cut % (last - first));
      const revisions = (await next(watch(core, `resourceVersion=${resume}`))).map(({ object }) =>
        Number(object.metadata.resourceVersion),
      );
      assert.deepEqual(
        revisions,
        Array.from({ length: last - resume }, (_, index) => resume + 1 + index),
      );
    }),
  );
});
