import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { createClient } from '../client/create-client.ts';
import { scriptedTransport } from '../client/testing/scripted-transport.ts';
import { settle } from '../clock/testing/real-time.ts';
import { KubeError, type KubeErrorReason } from '../errors/kube-error.ts';
import type { Live } from '../objects/object.ts';
import { createInformer, type InformerOptions, withoutManagedFields } from './create-informer.ts';
import type { InformerEvent } from './informer.ts';
import { countedClock } from './testing/counted-clock.ts';
import { formatEvents } from './testing/event-log.ts';
import { createFaultyClient } from './testing/faulty-client.ts';
import { createModelServer, type Thing, things } from './testing/model-server.ts';
import { recordedLog } from './testing/recorded-log.ts';

const createHarness = (options: Partial<InformerOptions<Thing>> = {}) => {
  const clock = countedClock();
  const server = createModelServer();
  const network = createFaultyClient(server);
  const { log, lines } = recordedLog();
  const cache = createInformer({
    client: network.client,
    resource: things,
    clock,
    random: () => 0,
    log,
    ...options,
  });
  const stop = new AbortController();
  const pass = async (milliseconds: number): Promise<void> => {
    await setImmediate();
    clock.advance(milliseconds);
    await setImmediate();
  };
  const run = (): Promise<void> => cache.run(stop.signal);
  return { clock, server, network, lines, cache, stop, run, pass };
};

test('an informer does nothing before run, and leaves nothing behind after it', async () => {
  const { cache, run, stop, clock, network, pass } = createHarness();
  await pass(1000);
  assert.deepEqual({ watches: network.watches.length, timers: clock.timers }, { watches: 0, timers: 0 });
  const done = run();
  await cache.synced;
  await pass(0);
  assert.deepEqual({ readers: network.readers, timers: clock.timers }, { readers: 1, timers: 1 });
  stop.abort();
  await done;
  assert.deepEqual({ readers: network.readers, timers: clock.timers }, { readers: 0, timers: 0 });
});

test('run ends while listing, while backing off, and when its signal was aborted before the start', async () => {
  const listing = createHarness();
  listing.network.holdLists();
  const lists = listing.run();
  await setImmediate();
  listing.stop.abort();
  await lists;
  assert.equal(listing.cache.hasSynced, false);

  const waiting = createHarness();
  waiting.network.failNextList(new KubeError('unreachable', 'nobody answers'));
  const waits = waiting.run();
  await setImmediate();
  assert.equal(waiting.clock.timers, 1);
  waiting.stop.abort();
  await waits;
  assert.equal(waiting.clock.timers, 0);

  const early = createHarness();
  early.stop.abort();
  await early.run();
  assert.deepEqual(early.network.lists, []);
});

test('a list that returns after run has ended is discarded', async () => {
  const server = createModelServer();
  server.write('a');
  const { client } = createFaultyClient(server);
  const ignoringSignal: typeof client = {
    ...client,
    list: async (resource, options) => {
      const answer = await client.list(resource, options);
      stop.abort();
      return answer;
    },
  };
  const { cache, stop, run } = createHarness({ client: ignoringSignal });
  await run();
  assert.deepEqual({ objects: cache.list(), hasSynced: cache.hasSynced }, { objects: [], hasSynced: false });
});

test('an informer has synced once its listeners got the first list', async () => {
  const { cache, server, run, stop } = createHarness();
  server.write('a');
  const synced: boolean[] = [];
  cache.subscribe(() => synced.push(cache.hasSynced));
  const done = run();
  await cache.synced;
  assert.deepEqual([...synced, cache.hasSynced], [false, true]);
  stop.abort();
  await done;
});

test('a listener added later gets the current objects, then the changes', async () => {
  const { cache, server, network, run, stop, pass } = createHarness();
  server.write('a');
  const done = run();
  await pass(0);
  const changes: InformerEvent<Thing>[] = [];
  const unsubscribe = cache.subscribe((change) => changes.push(change));
  server.write('b');
  network.deliver(1);
  await pass(0);
  unsubscribe();
  server.remove('a');
  network.deliver(1);
  await pass(0);
  assert.deepEqual(
    formatEvents(changes).map((line) => line.split(' ').slice(0, 2).join(' ')),
    ['added uid-1', 'added uid-2'],
  );
  assert.deepEqual(
    cache.list().map(({ metadata }) => metadata.name),
    ['b'],
  );
  stop.abort();
  await done;
});

for (const reason of ['unauthorized', 'forbidden', 'notFound'] satisfies KubeErrorReason[]) {
  test(`${reason} is logged with advice, and retried until it is fixed`, async () => {
    const { cache, network, lines, run, stop, pass } = createHarness();
    const refusal = new KubeError(reason, 'refused for the test');
    for (let time = 0; time < 3; time++) network.failNextList(refusal);
    const done = run();
    await pass(0);
    assert.equal(cache.lastError, refusal);
    for (const wait of [800, 1600, 3200]) {
      assert.equal(cache.hasSynced, false);
      await pass(wait);
    }
    assert.equal(cache.hasSynced, true);
    assert.equal(cache.lastError, undefined);
    const warnings = lines.filter(({ level }) => level === 'warn');
    assert.deepEqual(
      warnings.map(({ fields }) => [fields['resource'], fields['reason'], fields['failures'], fields['waitMs']]),
      [1, 2, 3].map((failures) => ['things.test.example', reason, failures, 400 * 2 ** failures]),
    );
    assert.equal(typeof warnings[0]?.fields['advice'], 'string');
    stop.abort();
    await done;
  });
}

test('a broken watch resumes from the last version after a back-off, and the store stays readable', async () => {
  const { cache, server, network, run, stop, pass } = createHarness();
  const done = run();
  await pass(0);
  server.write('a');
  network.deliver(1);
  await pass(0);
  network.break(new KubeError('unreachable', 'cut'));
  await pass(399);
  assert.equal(network.watches.length, 1);
  assert.equal(cache.list().length, 1);
  assert.ok(cache.lastError);
  await pass(1);
  assert.deepEqual(
    network.watches.map(({ resourceVersion }) => BigInt(resourceVersion)),
    [server.version - 1n, server.version],
  );
  network.bookmark();
  await pass(0);
  assert.equal(cache.lastError, undefined);
  assert.equal(network.lists.length, 1);
  stop.abort();
  await done;
});

test('a bookmark moves the version from which a watch resumes', async () => {
  const { server, network, run, stop, pass } = createHarness();
  const done = run();
  await pass(0);
  server.writeElsewhere();
  network.bookmark();
  await pass(5000);
  server.compact();
  network.end();
  await pass(0);
  assert.equal(network.watches.at(-1)?.resourceVersion, `${server.version}`);
  assert.deepEqual({ lists: network.lists.length, readers: network.readers }, { lists: 1, readers: 1 });
  stop.abort();
  await done;
});

test('the informer respects Retry-After', async () => {
  const { network, run, stop, pass } = createHarness();
  network.failNextWatch(new KubeError('tooManyRequests', 'slow down', { retryAfterMs: 10_000 }));
  const done = run();
  await pass(9999);
  assert.equal(network.watches.length, 1);
  await pass(1);
  assert.equal(network.watches.length, 2);
  stop.abort();
  await done;
});

test('each watch requests a different, randomized timeout', async () => {
  let randomValue = 0;
  const { network, run, stop, pass } = createHarness({ random: () => randomValue });
  const done = run();
  await pass(5000);
  randomValue = 0.999;
  network.end();
  await pass(0);
  assert.deepEqual(
    network.watches.map(({ timeoutSeconds }) => timeoutSeconds),
    [290, 580],
  );
  stop.abort();
  await done;
});

test('transform drops fields before an object is stored', async () => {
  const { server, cache, run, stop, pass } = createHarness({
    transform: (object) => ({ ...object, spec: { ...object.spec, color: 'none' } }),
  });
  server.write('a');
  const done = run();
  await pass(0);
  assert.equal(cache.get('default/a')?.spec.color, 'none');
  stop.abort();
  await done;

  const metadata = { name: 'a', uid: 'u', resourceVersion: '1', creationTimestamp: '', managedFields: [{}] };
  const object: Live<Thing> = { metadata, spec: { color: 'red', step: 0 } };
  assert.deepEqual(Object.keys(withoutManagedFields(object).metadata), Object.keys(metadata).slice(0, 4));
});

test('only objects that pass the filter are stored; they are added and removed when they start and stop passing, by list and by watch', async () => {
  const wanted = new Set(['a', 'b']);
  const { cache, server, network, run, stop, pass } = createHarness({
    filter: ({ metadata }) => wanted.has(metadata.name),
  });
  const changes: InformerEvent<Thing>[] = [];
  cache.subscribe((change) => changes.push(change));
  const seen = (): string[] => formatEvents(changes.splice(0)).map((line) => line.split(' ').slice(0, 2).join(' '));
  for (const name of ['a', 'b', 'c']) server.write(name);
  const done = run();
  await pass(0);
  assert.deepEqual(seen(), ['added uid-1', 'added uid-2'], 'by the first list');
  wanted.delete('a');
  wanted.add('c');
  for (const name of ['a', 'c', 'a']) server.write(name);
  network.deliver(3);
  await pass(0);
  assert.deepEqual(seen(), ['removed uid-1', 'added uid-3'], 'by the watch');
  wanted.delete('b');
  wanted.add('a');
  for (const name of ['a', 'b']) server.write(name);
  network.break(new KubeError('expired', 'too old resource version', { code: 410 }));
  await pass(5000);
  assert.equal(network.lists.length, 2);
  assert.deepEqual(seen(), ['removed uid-2', 'added uid-1'], 'by a new list');
  server.remove('a');
  server.remove('b');
  network.deliver(2);
  await pass(0);
  assert.deepEqual(seen(), ['removed uid-1'], 'by its deletion');
  server.remove('c');
  server.write('c');
  wanted.delete('c');
  network.deliver(2);
  await pass(0);
  assert.deepEqual(seen(), ['removed uid-3'], 'another object of its name is judged anew');
  assert.deepEqual(cache.list(), []);
  stop.abort();
  await done;
});

test('a transform that throws is logged, and the object is stored unchanged', async () => {
  const { server, cache, lines, run, stop, pass } = createHarness({
    transform: () => {
      throw new Error('for the test');
    },
  });
  server.write('a');
  const done = run();
  await pass(0);
  assert.equal(cache.list().length, 1);
  assert.equal(lines.filter(({ level }) => level === 'error').length, 1);
  stop.abort();
  await done;
});

test('two concurrent runs are rejected; consecutive runs are not', async () => {
  const { cache, server, run, stop, pass } = createHarness();
  const done = run();
  assert.throws(run, /running already/);
  stop.abort();
  await done;
  server.write('a');
  const again = new AbortController();
  const second = cache.run(again.signal);
  await pass(0);
  assert.equal(cache.list().length, 1);
  again.abort();
  await second;
});

test('an object that loses the text of mustContain is removed, and foreign objects only move the version on', async () => {
  const text = 'example.com/hold';
  const thing = (name: string, version: number, finalizers: readonly string[]) => ({
    kind: 'Thing',
    apiVersion: 'test.example/v1',
    metadata: {
      name,
      namespace: 'n',
      uid: `uid-${name}`,
      resourceVersion: `${version}`,
      creationTimestamp: '2026-01-01T00:00:00Z',
      finalizers,
    },
    spec: { color: 'red', step: 1 },
  });
  const lines = [
    { type: 'ADDED', object: thing('foreign', 11, []) },
    { type: 'MODIFIED', object: thing('held', 12, []) },
    { type: 'DELETED', object: thing('foreign', 13, []) },
  ];
  const list = {
    kind: 'ThingList',
    apiVersion: 'test.example/v1',
    metadata: { resourceVersion: '10' },
    items: [thing('held', 9, [text]), thing('other', 8, [])],
  };
  const transport = scriptedTransport(({ path }, index) => {
    if (!path.includes('watch=true')) return { body: list };
    return { body: index === 1 ? lines.map((line) => `${JSON.stringify(line)}\n`).join('') : '' };
  });
  const clock = countedClock();
  const { cache, stop, run } = createHarness({
    client: createClient(transport, { clock }),
    clock,
    mustContain: text,
  });
  const seen: InformerEvent<Thing>[] = [];
  cache.subscribe((change) => seen.push(change));
  const done = run();
  await cache.synced;
  await settle();
  assert.deepEqual(formatEvents(seen), ['added uid-held 9', 'removed uid-held']);
  clock.advance(10_000);
  await settle();
  assert.match(transport.seen[2]?.path ?? '', /resourceVersion=13/);
  stop.abort();
  await done;
});
