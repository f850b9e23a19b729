import assert from 'node:assert/strict';
import { behaviour, topic } from '../behaviour.ts';
import { refused } from '../expect.ts';
import { configMap, pod } from '../objects.ts';
import { readyForPods } from '../pods.ts';
import { read, readList } from '../read.ts';
import { widget, widgets } from '../widgets.ts';

export const jsonPatch = topic('JSON patch', [
  behaviour('add, replace and remove apply in order', async (context) => {
    const configMaps = await context.collection('configmaps');
    await context.create(configMaps, configMap('a', { data: { x: '1', y: '2' } }));
    const answer = await context.patch(`${configMaps}/a`, 'json', [
      { op: 'add', path: '/data/z', value: '3' },
      { op: 'replace', path: '/data/x', value: '4' },
      { op: 'remove', path: '/data/y' },
    ]);
    assert.equal(answer.code, 200);
    assert.deepEqual(read(answer.json, 'data'), { x: '4', z: '3' });
  }),

  behaviour('~1 and ~0 in a path mean / and ~', async (context) => {
    const configMaps = await context.collection('configmaps');
    await context.create(configMaps, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'a', annotations: { q: '' } },
    });
    const answer = await context.patch(`${configMaps}/a`, 'json', [
      { op: 'add', path: '/metadata/annotations/example.com~1x', value: 'y' },
    ]);
    assert.deepEqual(read(answer.json, 'metadata.annotations'), {
      q: '',
      'example.com/x': 'y',
    });
  }),

  behaviour('a failing test operation changes nothing', async (context) => {
    const configMaps = await context.collection('configmaps');
    const created = await context.create(configMaps, configMap('a', { data: { x: '1' } }));
    const answer = await context.patch(`${configMaps}/a`, 'json', [
      { op: 'replace', path: '/data/x', value: '2' },
      { op: 'test', path: '/data/x', value: '3' },
    ]);
    refused(answer, {
      code: 422,
      reason: 'Invalid',
      message: 'the server rejected our request due to an error in our request',
    });
    assert.deepEqual(await context.fetch(`${configMaps}/a`), created);
  }),

  behaviour('a missing path is invalid', async (context) => {
    const configMaps = await context.collection('configmaps');
    await context.create(configMaps, configMap('a'));
    const answer = await context.patch(`${configMaps}/a`, 'json', [{ op: 'remove', path: '/data/x' }]);
    refused(answer, {
      code: 422,
      reason: 'Invalid',
      message: 'the server rejected our request due to an error in our request',
    });
  }),

  behaviour('a patch that is not a list is a bad request', async (context) => {
    const configMaps = await context.collection('configmaps');
    await context.create(configMaps, configMap('a'));
    const answer = await context.patch(`${configMaps}/a`, 'json', { data: { x: '1' } });
    refused(answer, { code: 400, reason: 'BadRequest' });
  }),

  behaviour('lists of a custom resource are addressed by index and by -', async (context) => {
    const { collection, apiVersion } = await widgets(context);
    const path = await collection();
    await context.create(path, widget(apiVersion, 'a', { tags: ['one', 'two'] }));
    const answer = await context.patch(`${path}/a`, 'json', [
      { op: 'remove', path: '/spec/tags/0' },
      { op: 'add', path: '/spec/tags/-', value: 'three' },
    ]);
    assert.deepEqual(read(answer.json, 'spec.tags'), ['two', 'three']);
  }),
]);

export const mergePatch = topic('merge patch', [
  behaviour('null deletes a field, other fields are merged', async (context) => {
    const configMaps = await context.collection('configmaps');
    await context.create(configMaps, configMap('a', { data: { x: '1', y: '2' } }));
    const edited = await context.edit(`${configMaps}/a`, { data: { x: null, z: '3' } });
    assert.deepEqual(edited.data, { y: '2', z: '3' });
  }),

  behaviour('lists are replaced completely', async (context) => {
    const { collection, apiVersion } = await widgets(context);
    const path = await collection();
    await context.create(path, widget(apiVersion, 'a', { ports: [{ number: 1, note: 'one' }, { number: 2 }] }));
    const edited = await context.edit(`${path}/a`, { spec: { ports: [{ number: 1 }] } });
    assert.deepEqual(read(edited, 'spec.ports'), [{ number: 1 }]);
  }),

  behaviour('a patch that changes nothing keeps the resource version', async (context) => {
    const { collection, apiVersion } = await widgets(context);
    const path = await collection();
    const created = await context.create(path, widget(apiVersion, 'a'));
    assert.deepEqual(await context.edit(`${path}/a`, { spec: { size: 3 } }), created);
    assert.deepEqual(await context.edit(`${path}/a`, {}), created);
  }),

  behaviour('a patch of a missing object is NotFound', async (context) => {
    refused(await context.patch(`${await context.collection('configmaps')}/a`, 'merge', {}), {
      code: 404,
      reason: 'NotFound',
      message: 'configmaps "a" not found',
    });
  }),

  behaviour('the name is immutable', async (context) => {
    const configMaps = await context.collection('configmaps');
    await context.create(configMaps, configMap('a'));
    refused(await context.patch(`${configMaps}/a`, 'merge', { metadata: { name: 'b' } }), {
      code: 400,
      reason: 'BadRequest',
      message: 'the name of the object (b) does not match the name on the URL (a)',
    });
  }),

  behaviour('an unknown patch type is an unsupported media type', async (context) => {
    const configMaps = await context.collection('configmaps');
    await context.create(configMaps, configMap('a'));
    const answer = await context.patch(
      `${configMaps}/a`,
      'merge',
      {},
      { headers: { 'content-type': 'application/json' } },
    );
    refused(answer, {
      code: 415,
      reason: 'UnsupportedMediaType',
      message: '415: Unsupported Media Type',
    });
  }),
]);

export const strategicPatch = topic('strategic merge patch', [
  behaviour('containers are merged by name', async (context) => {
    const pods = await readyForPods(context);
    await context.create(
      pods,
      pod('a', {
        containers: [
          { name: 'one', image: 'x:1' },
          { name: 'two', image: 'x:1' },
        ],
      }),
    );
    const answer = await context.patch(`${pods}/a`, 'strategic', {
      spec: { containers: [{ name: 'two', image: 'x:2' }] },
    });
    assert.equal(answer.code, 200);
    assert.deepEqual(
      readList(answer.json, 'spec.containers').map((each) => [read(each, 'name'), read(each, 'image')]),
      [
        ['one', 'x:1'],
        ['two', 'x:2'],
      ],
    );
  }),

  behaviour('conditions of a status are merged by type', async (context) => {
    const pods = await readyForPods(context);
    await context.create(pods, pod('a'));
    const condition = (type: string, status: string): Record<string, string> => ({ type, status });
    await context.patch(`${pods}/a/status`, 'strategic', {
      status: { conditions: [condition('Ready', 'False'), condition('example.com/x', 'True')] },
    });
    const answer = await context.patch(`${pods}/a/status`, 'strategic', {
      status: { conditions: [condition('Ready', 'True')] },
    });
    assert.deepEqual(
      readList(answer.json, 'status.conditions').map((each) => [read(each, 'type'), read(each, 'status')]),
      [
        ['Ready', 'True'],
        ['example.com/x', 'True'],
      ],
    );
  }),

  behaviour('taints of a Node have no merge key, so the list is replaced', async (context) => {
    const name = context.unique('node');
    context.deleteAfterBehaviour(`/api/v1/nodes/${name}`);
    const taint = (key: string): Record<string, string> => ({ key, effect: 'NoSchedule' });
    await context.create('/api/v1/nodes', {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name },
      spec: { taints: [taint('one'), taint('two')] },
    });
    const answer = await context.patch(`/api/v1/nodes/${name}`, 'strategic', { spec: { taints: [taint('three')] } });
    const keys = readList(answer.json, 'spec.taints').map((each) => read(each, 'key'));
    assert.ok(keys.includes('three') && !keys.includes('one') && !keys.includes('two'), keys.join());
  }),

  behaviour('finalizers are merged as a set', async (context) => {
    const configMaps = await context.collection('configmaps');
    await context.create(configMaps, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'a', finalizers: ['example.com/one'] },
    });
    const added = await context.patch(`${configMaps}/a`, 'strategic', {
      metadata: { finalizers: ['example.com/two'] },
    });
    assert.deepEqual(readList(added.json, 'metadata.finalizers').map(String).sort(), [
      'example.com/one',
      'example.com/two',
    ]);
    const taken = await context.patch(`${configMaps}/a`, 'strategic', {
      metadata: { '$deleteFromPrimitiveList/finalizers': ['example.com/one', 'example.com/two'] },
    });
    assert.equal(read(taken.json, 'metadata.finalizers'), undefined);
  }),

  behaviour('owner references are merged by uid', async (context) => {
    const configMaps = await context.collection('configmaps');
    const namespace = await context.fetch(`/api/v1/namespaces/${await context.namespace()}`);
    const owner = { apiVersion: 'v1', kind: 'Namespace', name: namespace.metadata.name, uid: namespace.metadata.uid };
    await context.create(configMaps, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'a', ownerReferences: [owner] },
    });
    const answer = await context.patch(`${configMaps}/a`, 'strategic', {
      metadata: { ownerReferences: [{ uid: owner.uid, controller: true }] },
    });
    assert.deepEqual(read(answer.json, 'metadata.ownerReferences'), [{ ...owner, controller: true }]);
  }),

  behaviour('$patch: delete removes an element, $patch: replace the list or map', async (context) => {
    const pods = await readyForPods(context);
    await context.create(pods, { ...pod('a'), metadata: { name: 'a', labels: { x: '1', y: '2' } } });
    await context.patch(`${pods}/a/status`, 'strategic', {
      status: {
        conditions: [
          { type: 'one', status: 'True' },
          { type: 'two', status: 'True' },
        ],
      },
    });
    const without = await context.patch(`${pods}/a/status`, 'strategic', {
      status: { conditions: [{ $patch: 'delete', type: 'one' }] },
    });
    assert.deepEqual(
      readList(without.json, 'status.conditions').map((each) => read(each, 'type')),
      ['two'],
    );
    const replaced = await context.patch(`${pods}/a`, 'strategic', {
      metadata: { labels: { $patch: 'replace', z: '3' } },
    });
    assert.deepEqual(read(replaced.json, 'metadata.labels'), { z: '3' });
  }),

  behaviour('$setElementOrder sets the order of a merged list', async (context) => {
    const pods = await readyForPods(context);
    await context.create(pods, pod('a'));
    await context.patch(`${pods}/a/status`, 'strategic', { status: { conditions: [{ type: 'one', status: 'True' }] } });
    const answer = await context.patch(`${pods}/a/status`, 'strategic', {
      status: {
        '$setElementOrder/conditions': [{ type: 'two' }, { type: 'one' }],
        conditions: [{ type: 'two', status: 'True' }],
      },
    });
    assert.deepEqual(
      readList(answer.json, 'status.conditions').map((each) => read(each, 'type')),
      ['two', 'one'],
    );
  }),

  behaviour('a custom resource does not support it', async (context) => {
    const { collection, apiVersion } = await widgets(context);
    const path = await collection();
    await context.create(path, widget(apiVersion, 'a'));
    refused(await context.patch(`${path}/a`, 'strategic', { spec: { size: 4 } }), {
      code: 415,
      reason: 'UnsupportedMediaType',
      message:
        /^the body of the request was in an unknown format - accepted media types include: application\/json-patch\+json, application\/merge-patch\+json/,
    });
  }),
]);
