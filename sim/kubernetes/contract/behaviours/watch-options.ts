import assert from 'node:assert/strict';
import { behaviour, topic } from '../behaviour.ts';
import type { WatchEvent } from '../cluster.ts';
import { establish } from '../crds.ts';
import { includes, refused } from '../expect.ts';
import { secret } from '../objects.ts';
import { read, readText } from '../read.ts';
import { widgets } from '../widgets.ts';

const brief = (events: WatchEvent[]): string =>
  events.map((event) => `${event.type} ${event.object.metadata.name}`).join(', ');

const version = (object: unknown): number => Number(read(object, 'metadata.resourceVersion'));

export const watchOptions = topic('beginning and end of a watch', [
  behaviour('timeoutSeconds ends the stream', async (trial) => {
    const secrets = await trial.collection('secrets');
    const events = await trial.watch(`${secrets}?timeoutSeconds=1`);
    assert.deepEqual(await events.rest(), []);
  }),

  behaviour(
    'with allowWatchBookmarks a bookmark comes before the stream times out, and without it none',
    async (trial) => {
      const secrets = await trial.collection('secrets');
      await trial.create(secrets, secret('a'));
      const { resourceVersion } = (await trial.fetch(secrets)).metadata;
      const bookmarked = await trial.watch(
        `${secrets}?resourceVersion=${resourceVersion}&allowWatchBookmarks=true&timeoutSeconds=3`,
      );
      const plain = await trial.watch(`${secrets}?resourceVersion=${resourceVersion}&timeoutSeconds=3`);
      const [marks, nothing] = await Promise.all([bookmarked.rest(), plain.rest()]);
      assert.deepEqual(nothing, []);
      const mark = marks.at(-1);
      includes(mark, { type: 'BOOKMARK', object: { kind: 'Secret', apiVersion: 'v1' } });
      assert.ok(version(mark?.object) >= Number(resourceVersion));
      assert.equal(mark?.object.metadata.name, undefined);
    },
  ),

  behaviour('sendInitialEvents gives what is there, then a bookmark that says so, then what comes', async (trial) => {
    const secrets = await trial.collection('secrets');
    await trial.create(secrets, secret('a'));
    const last = await trial.create(secrets, secret('b'));
    const events = await trial.watch(
      `${secrets}?sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`,
    );
    const initial = await events.until((event) => event.type === 'BOOKMARK');
    assert.equal(brief(initial.slice(0, -1)), 'ADDED a, ADDED b');
    const mark = initial.at(-1)?.object;
    assert.deepEqual(mark?.metadata.annotations, { 'k8s.io/initial-events-end': 'true' });
    assert.ok(version(mark) >= version(last));
    await trial.create(secrets, secret('c'));
    assert.equal(brief([await events.next()]), 'ADDED c');
  }),

  behaviour('sendInitialEvents of a custom resource that nobody has made is the bookmark alone', async (trial) => {
    const { collection, apiVersion } = await widgets(trial);
    const events = await trial.watch(
      `${await collection()}?sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&resourceVersion=`,
    );
    includes(await events.next(), {
      type: 'BOOKMARK',
      object: { kind: 'Widget', apiVersion, metadata: { annotations: { 'k8s.io/initial-events-end': 'true' } } },
    });
  }),

  behaviour('sendInitialEvents needs resourceVersionMatch=NotOlderThan, and is nothing for a list', async (trial) => {
    const secrets = await trial.collection('secrets');
    refused(await trial.get(`${secrets}?watch=true&sendInitialEvents=true`), {
      code: 422,
      reason: 'Invalid',
      message:
        'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
    });
    refused(await trial.get(`${secrets}?sendInitialEvents=true`), {
      code: 422,
      reason: 'Invalid',
      message:
        'ListOptions.meta.k8s.io "" is invalid: sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list',
    });
  }),

  behaviour('resourceVersionMatch without sendInitialEvents is nothing for a watch', async (trial) => {
    const secrets = await trial.collection('secrets');
    refused(await trial.get(`${secrets}?watch=true&resourceVersion=1&resourceVersionMatch=NotOlderThan`), {
      code: 422,
      reason: 'Invalid',
      message:
        'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
    });
  }),

  behaviour('a version that history no longer reaches is an ERROR event of 410 Expired, and the end', async (trial) => {
    // A definition's history begins with it, so version 1 is before that.
    const { group } = await establish(trial, {
      kind: 'Young',
      plural: 'youngs',
      version: { schema: { openAPIV3Schema: { type: 'object' } } },
    });
    const events = await trial.watch(`/apis/${group}/v1/youngs?resourceVersion=1`);
    const seen = await events.rest();
    assert.equal(seen.length, 1);
    includes(seen[0], {
      type: 'ERROR',
      object: { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'Expired', code: 410 },
    });
    assert.match(readText(seen[0], 'object.message'), /^too old resource version: 1 \(\d+\)$/);
  }),
]);
