import assert from 'node:assert/strict';
import { behaviour, topic } from '../behaviour.ts';
import { refused } from '../expect.ts';
import { configMap } from '../objects.ts';
import { read } from '../read.ts';
import { widget, widgets } from '../widgets.ts';

export const dryRun = topic('dry run', [
  behaviour('a create returns the resulting object, and stores nothing', async (context) => {
    const { collection, apiVersion } = await widgets(context);
    const path = await collection();
    const answer = await context.post(`${path}?dryRun=All`, widget(apiVersion, 'a'));
    assert.equal(answer.code, 201);
    assert.ok(read(answer.json, 'metadata.uid'));
    assert.equal(read(answer.json, 'metadata.resourceVersion'), undefined);
    assert.equal(read(answer.json, 'spec.mode'), 'slow');
    assert.equal((await context.get(`${path}/a`)).code, 404);
  }),

  behaviour('an update returns the change with the old resource version', async (context) => {
    const configMaps = await context.collection('configmaps');
    const created = await context.create(configMaps, configMap('a'));
    const would = await context.edit(`${configMaps}/a?dryRun=All`, { data: { x: '1' } });
    assert.deepEqual(would.data, { x: '1' });
    assert.equal(would.metadata.resourceVersion, created.metadata.resourceVersion);
    assert.deepEqual(await context.fetch(`${configMaps}/a`), created);
  }),

  behaviour('a delete deletes nothing', async (context) => {
    const configMaps = await context.collection('configmaps');
    const created = await context.create(configMaps, configMap('a'));
    const answer = await context.delete(`${configMaps}/a`, {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      dryRun: ['All'],
    });
    assert.equal(answer.code, 200);
    assert.deepEqual(await context.fetch(`${configMaps}/a`), created);
  }),

  behaviour('an invalid write is rejected as usual', async (context) => {
    const configMaps = await context.collection('configmaps');
    await context.create(configMaps, configMap('a'));
    refused(await context.post(`${configMaps}?dryRun=All`, configMap('a')), { code: 409, reason: 'AlreadyExists' });
    const { collection, apiVersion } = await widgets(context);
    refused(await context.post(`${await collection()}?dryRun=All`, widget(apiVersion, 'a', { size: 99 })), {
      code: 422,
      reason: 'Invalid',
    });
  }),
]);

const doubled = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"x":"1"},"data":{"x":"2"}}';

export const fieldValidation = topic('field validation', [
  behaviour('Strict rejects all unknown fields in one response', async (context) => {
    const body = configMap('a', { dat: { x: '1' }, metadata: { name: 'a', nam: 'a' } });
    refused(await context.post(`${await context.collection('configmaps')}?fieldValidation=Strict`, body), {
      code: 400,
      reason: 'BadRequest',
      message:
        'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "metadata.nam", unknown field "dat"',
    });
  }),

  behaviour('Strict rejects a duplicate key', async (context) => {
    refused(await context.post(`${await context.collection('configmaps')}?fieldValidation=Strict`, doubled), {
      code: 400,
      reason: 'BadRequest',
      message: /strict decoding error: duplicate field "data"/,
    });
  }),

  behaviour('Warn, which is the default, accepts the object and warns of each field', async (context) => {
    const configMaps = await context.collection('configmaps');
    for (const [name, query] of [
      ['a', ''],
      ['b', '?fieldValidation=Warn'],
    ] as const) {
      const answer = await context.post(`${configMaps}${query}`, configMap(name, { dat: { x: '1' } }));
      assert.equal(answer.code, 201);
      assert.equal(answer.headers.warning, '299 - "unknown field \\"dat\\""');
      assert.equal(read(answer.json, 'dat'), undefined);
    }
  }),

  behaviour('Ignore accepts the object without warnings, and of a duplicate key the last', async (context) => {
    const answer = await context.post(`${await context.collection('configmaps')}?fieldValidation=Ignore`, doubled);
    assert.equal(answer.code, 201);
    assert.equal(answer.headers.warning, undefined);
    assert.deepEqual(read(answer.json, 'data'), { x: '2' });
  }),

  behaviour('another value is invalid', async (context) => {
    refused(await context.post(`${await context.collection('configmaps')}?fieldValidation=Nope`, configMap('a')), {
      code: 422,
      reason: 'Invalid',
      message:
        'CreateOptions.meta.k8s.io "" is invalid: fieldValidation: Unsupported value: "Nope": supported values: "", "Ignore", "Strict", "Warn"',
    });
  }),

  behaviour('Strict uses the schema of a custom resource', async (context) => {
    const { collection, apiVersion } = await widgets(context);
    const path = await collection();
    const answer = await context.post(`${path}?fieldValidation=Strict`, widget(apiVersion, 'a', { sise: 3 }));
    refused(answer, {
      code: 400,
      reason: 'BadRequest',
      message: `Widget in version "v1" cannot be handled as a Widget: strict decoding error: unknown field "spec.sise"`,
    });
    const warned = await context.post(path, widget(apiVersion, 'a', { sise: 3 }));
    assert.equal(warned.headers.warning, '299 - "unknown field \\"spec.sise\\""');
  }),

  behaviour('Strict applies to patches too', async (context) => {
    const { collection, apiVersion } = await widgets(context);
    const path = await collection();
    await context.create(path, widget(apiVersion, 'a'));
    refused(await context.patch(`${path}/a?fieldValidation=Strict`, 'merge', { spec: { sise: 3 } }), {
      code: 422,
      reason: 'Invalid',
      message: /strict decoding error: unknown field "spec\.sise"/,
    });
    const configMaps = await context.collection('configmaps');
    await context.create(configMaps, configMap('a'));
    refused(await context.patch(`${configMaps}/a?fieldValidation=Strict`, 'strategic', { dat: {} }), {
      code: 422,
      reason: 'Invalid',
      message: /strict decoding error: unknown field "dat"/,
    });
  }),

  behaviour('a value of the wrong type is a bad request with any field validation', async (context) => {
    const body = configMap('a', { data: { x: 5 } });
    refused(await context.post(`${await context.collection('configmaps')}?fieldValidation=Ignore`, body), {
      code: 400,
      reason: 'BadRequest',
      message:
        'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field ConfigMap.data of type string',
    });
  }),
]);
