import assert from 'node:assert/strict';
import { behaviour, topic } from '../behaviour.ts';
import type { WatchEvent } from '../cluster.ts';
import { establish } from '../crds.ts';
import { includes, refused } from '../expect.ts';
import { configMap, secret } from '../objects.ts';
import { namesOf, read, readText } from '../read.ts';
import { widget, widgets } from '../widgets.ts';

const brief = (events: WatchEvent[]): string =>
  events.map((event) => `${event.type} ${event.object.metadata.name}`).join(', ');

const isFor =
  (name: string) =>
  (event: WatchEvent): boolean =>
    event.object.metadata.name === name;

const version = (object: unknown): number => Number(read(object, 'metadata.resourceVersion'));

export const watch = topic('watch', [
  behaviour('frames are JSON lines with type and object, in a stream of application/json', async (context) => {
    const secrets = await context.collection('secrets');
    const created = await context.create(secrets, secret('a'));
    const answer = await context.get(`${secrets}?watch=true&timeoutSeconds=1`);
    assert.equal(answer.code, 200);
    assert.equal(answer.headers['content-type'], 'application/json');
    const lines = answer.text.split('\n');
    assert.equal(lines.at(-1), '');
    assert.deepEqual(
      lines.slice(0, -1).map((line) => JSON.parse(line) as unknown),
      [{ type: 'ADDED', object: created }],
    );
  }),

  behaviour('a watch from a version replays later changes, once and in order', async (context) => {
    const secrets = await context.collection('secrets');
    const first = await context.create(secrets, secret('a'));
    await context.create(secrets, secret('b'));
    await context.edit(`${secrets}/a`, { metadata: { labels: { x: '1' } } });
    await context.remove(`${secrets}/b`);
    const events = await context.watch(`${secrets}?resourceVersion=${first.metadata.resourceVersion}`);
    await context.create(secrets, secret('c'));
    const seen = await events.until(isFor('c'));
    assert.equal(brief(seen), 'ADDED b, MODIFIED a, DELETED b, ADDED c');
    const versions = seen.map((event) => version(event.object));
    assert.deepEqual(
      versions,
      [...new Set(versions)].sort((a, b) => a - b),
    );
  }),

  behaviour('a list and a watch from its version miss nothing during concurrent writes', async (context) => {
    const secrets = await context.collection('secrets');
    const names = Array.from({ length: 20 }, (_, index) => `s${String(index).padStart(2, '0')}`);
    const writing = (async () => {
      for (const name of names) await context.create(secrets, secret(name));
      await context.create(secrets, secret('zz-last'));
    })();
    const list = await context.fetch(secrets);
    const known = namesOf(list);
    const events = await context.watch(`${secrets}?resourceVersion=${version(list)}`);
    const later: string[] = [];
    if (!known.includes('zz-last')) {
      for (const event of await events.until(isFor('zz-last'))) later.push(event.object.metadata.name);
    }
    await writing;
    assert.deepEqual([...known, ...later], [...names, 'zz-last']);
  }),

  behaviour(
    'without a version, or from "0", a watch begins with an ADDED for each existing object',
    async (context) => {
      const secrets = await context.collection('secrets');
      await context.create(secrets, secret('a'));
      await context.edit(`${secrets}/a`, { metadata: { labels: { x: '1' } } });
      await context.create(secrets, secret('b'));
      for (const query of ['', '?resourceVersion=0', '?resourceVersion=']) {
        const events = await context.watch(`${secrets}${query}`);
        assert.equal(brief(await events.until(isFor('b'))), 'ADDED a, ADDED b', query);
      }
    },
  ),

  behaviour(
    'an object that enters the selector is ADDED, one that leaves it is DELETED in its last state, with the new version',
    async (context) => {
      const secrets = await context.collection('secrets');
      await context.create(secrets, secret('a', { in: 'no' }));
      const events = await context.watch(`${secrets}?labelSelector=in%3Dyes`);
      await context.edit(`${secrets}/a`, { metadata: { labels: { in: 'yes' } } });
      const entered = await events.next();
      includes(entered, { type: 'ADDED', object: { metadata: { labels: { in: 'yes' } } } });
      await context.edit(`${secrets}/a`, { metadata: { annotations: { x: 'y' } } });
      includes(await events.next(), { type: 'MODIFIED', object: { metadata: { annotations: { x: 'y' } } } });
      const outside = await context.edit(`${secrets}/a`, { metadata: { labels: { in: 'no' } } });
      includes(await events.next(), {
        type: 'DELETED',
        object: { metadata: { labels: { in: 'yes' }, resourceVersion: outside.metadata.resourceVersion } },
      });
      await context.edit(`${secrets}/a`, { metadata: { annotations: { x: 'z' } } });
      await context.create(secrets, secret('b', { in: 'yes' }));
      includes(await events.next(), { type: 'ADDED', object: { metadata: { name: 'b' } } });
    },
  ),

  behaviour('a field selector limits a watch in the same way', async (context) => {
    const { collection, apiVersion } = await widgets(context);
    const path = await collection();
    const events = await context.watch(`${path}?fieldSelector=spec.mode%3Dfast`);
    await context.create(path, widget(apiVersion, 'a'));
    await context.edit(`${path}/a`, { spec: { mode: 'fast' } });
    await context.edit(`${path}/a`, { spec: { mode: 'slow' } });
    const seen = [await events.next(), await events.next()];
    assert.equal(brief(seen), 'ADDED a, DELETED a');
    assert.equal(read(seen[1], 'object.spec.mode'), 'fast');
  }),

  behaviour('DELETED has the version of the deletion, newer than the last write', async (context) => {
    const secrets = await context.collection('secrets');
    const created = await context.create(secrets, secret('a'));
    const events = await context.watch(`${secrets}?resourceVersion=${created.metadata.resourceVersion}`);
    await context.remove(`${secrets}/a`);
    const next = await context.create(secrets, secret('b'));
    const deleted = await events.next();
    assert.equal(deleted.type, 'DELETED');
    assert.equal(deleted.object.metadata.uid, created.metadata.uid);
    assert.ok(version(deleted.object) > version(created));
    assert.ok(version(deleted.object) < version(next));
  }),

  behaviour('a deletion with finalizers is a MODIFIED, and a DELETED when the last one is removed', async (context) => {
    const secrets = await context.collection('secrets');
    const events = await context.watch(secrets);
    await context.create(secrets, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'a', finalizers: ['example.com/x'] },
    });
    await context.remove(`${secrets}/a`);
    await context.edit(`${secrets}/a`, { metadata: { finalizers: null } });
    const seen = await events.until((event) => event.type === 'DELETED');
    assert.equal(brief(seen), 'ADDED a, MODIFIED a, DELETED a');
    assert.ok(seen[1]?.object.metadata.deletionTimestamp);
  }),

  behaviour('writes that change nothing emit nothing', async (context) => {
    const { collection, apiVersion } = await widgets(context);
    const path = await collection();
    const created = await context.create(path, widget(apiVersion, 'a'));
    const events = await context.watch(`${path}?resourceVersion=${created.metadata.resourceVersion}`);
    await context.replace(`${path}/a`, created);
    await context.edit(`${path}/a`, { spec: { size: 3 } });
    await context.edit(`${path}/a/status`, {});
    await context.patch(`${path}/a`, 'json', []);
    await context.create(path, widget(apiVersion, 'b'));
    assert.equal(brief([await events.next()]), 'ADDED b');
  }),

  behaviour('dry runs emit nothing', async (context) => {
    const secrets = await context.collection('secrets');
    const created = await context.create(secrets, secret('a'));
    const events = await context.watch(`${secrets}?resourceVersion=${created.metadata.resourceVersion}`);
    await context.create(`${secrets}?dryRun=All`, secret('ghost'));
    await context.edit(`${secrets}/a?dryRun=All`, { metadata: { labels: { x: 'y' } } });
    await context.remove(`${secrets}/a?dryRun=All`);
    await context.create(secrets, secret('b'));
    assert.equal(brief([await events.next()]), 'ADDED b');
  }),

  behaviour('a watch by metadata.name includes only that object', async (context) => {
    const secrets = await context.collection('secrets');
    const events = await context.watch(`${secrets}?fieldSelector=metadata.name%3Db`);
    await context.create(secrets, secret('a'));
    await context.create(secrets, secret('b'));
    assert.equal(brief([await events.next()]), 'ADDED b');
  }),

  behaviour('a watch of all namespaces includes each', async (context) => {
    const { collection, apiVersion, group } = await widgets(context);
    const name = context.unique('everywhere');
    const events = await context.watch(`/apis/${group}/v1/widgets?fieldSelector=metadata.name%3D${name}`);
    await context.create(await collection(), widget(apiVersion, name));
    includes(await events.next(), { type: 'ADDED', object: { metadata: { namespace: await context.namespace() } } });
  }),

  behaviour('many watchers of one collection get the same events', async (context) => {
    const configMaps = await context.collection('configmaps');
    const watchers = await Promise.all(
      Array.from({ length: 5 }, () => context.watch(`${configMaps}?labelSelector=mine`)),
    );
    for (const name of ['a', 'b']) {
      await context.create(configMaps, { ...configMap(name), metadata: { name, labels: { mine: '' } } });
    }
    for (const watcher of watchers) assert.equal(brief(await watcher.until(isFor('b'))), 'ADDED a, ADDED b');
  }),
]);

export const watchOptions = topic('start and end of a watch', [
  behaviour('timeoutSeconds ends the stream', async (context) => {
    const secrets = await context.collection('secrets');
    const events = await context.watch(`${secrets}?timeoutSeconds=1`);
    assert.deepEqual(await events.rest(), []);
  }),

  behaviour(
    'with allowWatchBookmarks a bookmark is sent before the stream times out, and none without it',
    async (context) => {
      const secrets = await context.collection('secrets');
      await context.create(secrets, secret('a'));
      const { resourceVersion } = (await context.fetch(secrets)).metadata;
      const bookmarked = await context.watch(
        `${secrets}?resourceVersion=${resourceVersion}&allowWatchBookmarks=true&timeoutSeconds=3`,
      );
      const plain = await context.watch(`${secrets}?resourceVersion=${resourceVersion}&timeoutSeconds=3`);
      const [marks, nothing] = await Promise.all([bookmarked.rest(), plain.rest()]);
      assert.deepEqual(nothing, []);
      const mark = marks.at(-1);
      includes(mark, { type: 'BOOKMARK', object: { kind: 'Secret', apiVersion: 'v1' } });
      assert.ok(version(mark?.object) >= Number(resourceVersion));
      assert.equal(mark?.object.metadata.name, undefined);
    },
  ),

  behaviour(
    'sendInitialEvents sends the existing objects, then an annotated bookmark, then changes',
    async (context) => {
      const secrets = await context.collection('secrets');
      await context.create(secrets, secret('a'));
      const last = await context.create(secrets, secret('b'));
      const events = await context.watch(
        `${secrets}?sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`,
      );
      const initial = await events.until((event) => event.type === 'BOOKMARK');
      assert.equal(brief(initial.slice(0, -1)), 'ADDED a, ADDED b');
      const mark = initial.at(-1)?.object;
      assert.deepEqual(mark?.metadata.annotations, { 'k8s.io/initial-events-end': 'true' });
      assert.ok(version(mark) >= version(last));
      await context.create(secrets, secret('c'));
      assert.equal(brief([await events.next()]), 'ADDED c');
    },
  ),

  behaviour('sendInitialEvents of a custom resource without objects sends only the bookmark', async (context) => {
    const { collection, apiVersion } = await widgets(context);
    const events = await context.watch(
      `${await collection()}?sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&resourceVersion=`,
    );
    includes(await events.next(), {
      type: 'BOOKMARK',
      object: { kind: 'Widget', apiVersion, metadata: { annotations: { 'k8s.io/initial-events-end': 'true' } } },
    });
  }),

  behaviour('sendInitialEvents needs resourceVersionMatch=NotOlderThan, and is invalid for a list', async (context) => {
    const secrets = await context.collection('secrets');
    refused(await context.get(`${secrets}?watch=true&sendInitialEvents=true`), {
      code: 422,
      reason: 'Invalid',
      message:
        'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
    });
    refused(await context.get(`${secrets}?sendInitialEvents=true`), {
      code: 422,
      reason: 'Invalid',
      message:
        'ListOptions.meta.k8s.io "" is invalid: sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list',
    });
  }),

  behaviour('resourceVersionMatch without sendInitialEvents is invalid for a watch', async (context) => {
    const secrets = await context.collection('secrets');
    refused(await context.get(`${secrets}?watch=true&resourceVersion=1&resourceVersionMatch=NotOlderThan`), {
      code: 422,
      reason: 'Invalid',
      message:
        'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
    });
  }),

  behaviour('a compacted version gives an ERROR event with 410 Expired, and ends the watch', async (context) => {
    // The watch history of a CRD begins with its creation, so version 1 is too old.
    const { group } = await establish(context, {
      kind: 'Young',
      plural: 'youngs',
      version: { schema: { openAPIV3Schema: { type: 'object' } } },
    });
    const events = await context.watch(`/apis/${group}/v1/youngs?resourceVersion=1`);
    const seen = await events.rest();
    assert.equal(seen.length, 1);
    includes(seen[0], {
      type: 'ERROR',
      object: { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'Expired', code: 410 },
    });
    assert.match(readText(seen[0], 'object.message'), /^too old resource version: 1 \(\d+\)$/);
  }),
]);
