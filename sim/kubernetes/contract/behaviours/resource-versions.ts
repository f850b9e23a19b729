import assert from 'node:assert/strict';
import { behaviour, topic } from '../behaviour.ts';
import { refused } from '../expect.ts';
import { configMap, secret } from '../objects.ts';
import { read, readList } from '../read.ts';
import { widget, widgets } from '../widgets.ts';

const version = (object: unknown): number => Number(read(object, 'metadata.resourceVersion'));

export const resourceVersions = topic('resource versions', [
  behaviour('they increase with every write, across kinds', async (context) => {
    const { collection, apiVersion } = await widgets(context);
    const configMaps = await context.collection('configmaps');
    const path = await collection();
    const versions = [
      await context.create(configMaps, configMap('a')),
      await context.create(path, widget(apiVersion, 'a')),
      await context.edit(`${configMaps}/a`, { data: { x: '1' } }),
      await context.edit(`${path}/a/status`, { status: { phase: 'Ready' } }),
      await context.create(await context.collection('secrets'), secret('a')),
    ].map(version);
    assert.deepEqual(
      versions,
      [...new Set(versions)].sort((a, b) => a - b),
    );
  }),

  behaviour('the version of a list is the current one, not that of its newest item', async (context) => {
    const secrets = await context.collection('secrets');
    const created = await context.create(secrets, secret('a'));
    const later = await context.create(await context.collection('configmaps'), configMap('later'));
    const list = await context.fetch(secrets);
    assert.ok(version(list) > version(created));
    assert.ok(version(list) >= version(later));
  }),

  behaviour('an exact version lists a past state', async (context) => {
    const secrets = await context.collection('secrets');
    await context.create(secrets, secret('a'));
    const then = version(await context.fetch(secrets));
    await context.create(secrets, secret('b'));
    await context.remove(`${secrets}/a`);
    const past = await context.fetch(`${secrets}?resourceVersion=${then}&resourceVersionMatch=Exact`);
    assert.deepEqual(
      readList(past, 'items').map((item) => read(item, 'metadata.name')),
      ['a'],
    );
    assert.equal(version(past), then);
  }),

  behaviour('NotOlderThan, or no match, lists the current state', async (context) => {
    const secrets = await context.collection('secrets');
    const { resourceVersion } = (await context.create(secrets, secret('a'))).metadata;
    const second = await context.create(secrets, secret('b'));
    for (const query of [
      `resourceVersion=${second.metadata.resourceVersion}`,
      `resourceVersion=${second.metadata.resourceVersion}&resourceVersionMatch=NotOlderThan`,
    ]) {
      assert.equal(readList(await context.fetch(`${secrets}?${query}`), 'items').length, 2, query);
    }
    assert.ok(version(await context.fetch(`${secrets}?resourceVersion=${resourceVersion}`)) >= Number(resourceVersion));
  }),

  behaviour('a future version is a Timeout that says to retry', async (context) => {
    refused(await context.get(`${await context.collection('secrets')}?resourceVersion=999999999`), {
      code: 504,
      reason: 'Timeout',
      message: /^Timeout: Too large resource version: 999999999, current: \d+$/,
      details: {
        causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
        retryAfterSeconds: 1,
      },
    });
  }),

  behaviour('a version that is not a number is a bad request', async (context) => {
    refused(await context.get(`${await context.collection('secrets')}?resourceVersion=abc`), {
      code: 400,
      reason: 'BadRequest',
      message: /resourceVersion: Invalid value: "abc": strconv\.ParseUint: parsing "abc": invalid syntax$/,
    });
  }),

  behaviour('resourceVersionMatch is rejected where it does not apply', async (context) => {
    const secrets = await context.collection('secrets');
    const expected = {
      'resourceVersionMatch=Exact': 'Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided',
      'resourceVersionMatch=Exact&resourceVersion=0':
        'Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
      'resourceVersionMatch=Nope&resourceVersion=1':
        'Unsupported value: "Nope": supported values: "Exact", "NotOlderThan", ""',
    };
    for (const [query, message] of Object.entries(expected)) {
      refused(await context.get(`${secrets}?${query}`), {
        code: 422,
        reason: 'Invalid',
        message: `ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: ${message}`,
      });
    }
  }),
]);
