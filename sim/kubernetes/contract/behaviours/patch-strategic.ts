import assert from 'node:assert/strict';
import { behaviour, topic } from '../behaviour.ts';
import { refused } from '../expect.ts';
import { pod } from '../objects.ts';
import { readyForPods } from '../pods.ts';
import { read, readList } from '../read.ts';
import { widget, widgets } from '../widgets.ts';

export const strategicPatch = topic('strategic merge patch', [
  behaviour('containers are merged by name', async (trial) => {
    const pods = await readyForPods(trial);
    await trial.create(
      pods,
      pod('a', {
        containers: [
          { name: 'one', image: 'x:1' },
          { name: 'two', image: 'x:1' },
        ],
      }),
    );
    const answer = await trial.patch(`${pods}/a`, 'strategic', {
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

  behaviour('conditions of a status are merged by type', async (trial) => {
    const pods = await readyForPods(trial);
    await trial.create(pods, pod('a'));
    const condition = (type: string, status: string): Record<string, string> => ({ type, status });
    await trial.patch(`${pods}/a/status`, 'strategic', {
      status: { conditions: [condition('Ready', 'False'), condition('example.com/x', 'True')] },
    });
    const answer = await trial.patch(`${pods}/a/status`, 'strategic', {
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

  behaviour('taints of a Node have no merge key here, so the list is replaced', async (trial) => {
    const name = trial.unique('node');
    trial.leave(`/api/v1/nodes/${name}`);
    const taint = (key: string): Record<string, string> => ({ key, effect: 'NoSchedule' });
    await trial.create('/api/v1/nodes', {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name },
      spec: { taints: [taint('one'), taint('two')] },
    });
    const answer = await trial.patch(`/api/v1/nodes/${name}`, 'strategic', { spec: { taints: [taint('three')] } });
    const keys = readList(answer.json, 'spec.taints').map((each) => read(each, 'key'));
    assert.ok(keys.includes('three') && !keys.includes('one') && !keys.includes('two'), keys.join());
  }),

  behaviour('finalizers are a set that patches add to', async (trial) => {
    const configMaps = await trial.collection('configmaps');
    await trial.create(configMaps, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'a', finalizers: ['example.com/one'] },
    });
    const added = await trial.patch(`${configMaps}/a`, 'strategic', { metadata: { finalizers: ['example.com/two'] } });
    assert.deepEqual(readList(added.json, 'metadata.finalizers').map(String).sort(), [
      'example.com/one',
      'example.com/two',
    ]);
    const taken = await trial.patch(`${configMaps}/a`, 'strategic', {
      metadata: { '$deleteFromPrimitiveList/finalizers': ['example.com/one', 'example.com/two'] },
    });
    assert.equal(read(taken.json, 'metadata.finalizers'), undefined);
  }),

  behaviour('owner references are merged by uid', async (trial) => {
    const configMaps = await trial.collection('configmaps');
    const namespace = await trial.fetch(`/api/v1/namespaces/${await trial.namespace()}`);
    const owner = { apiVersion: 'v1', kind: 'Namespace', name: namespace.metadata.name, uid: namespace.metadata.uid };
    await trial.create(configMaps, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'a', ownerReferences: [owner] },
    });
    const answer = await trial.patch(`${configMaps}/a`, 'strategic', {
      metadata: { ownerReferences: [{ uid: owner.uid, controller: true }] },
    });
    assert.deepEqual(read(answer.json, 'metadata.ownerReferences'), [{ ...owner, controller: true }]);
  }),

  behaviour('$patch: delete removes an element, $patch: replace the list or map', async (trial) => {
    const pods = await readyForPods(trial);
    await trial.create(pods, { ...pod('a'), metadata: { name: 'a', labels: { x: '1', y: '2' } } });
    await trial.patch(`${pods}/a/status`, 'strategic', {
      status: {
        conditions: [
          { type: 'one', status: 'True' },
          { type: 'two', status: 'True' },
        ],
      },
    });
    const without = await trial.patch(`${pods}/a/status`, 'strategic', {
      status: { conditions: [{ $patch: 'delete', type: 'one' }] },
    });
    assert.deepEqual(
      readList(without.json, 'status.conditions').map((each) => read(each, 'type')),
      ['two'],
    );
    const replaced = await trial.patch(`${pods}/a`, 'strategic', {
      metadata: { labels: { $patch: 'replace', z: '3' } },
    });
    assert.deepEqual(read(replaced.json, 'metadata.labels'), { z: '3' });
  }),

  behaviour('$setElementOrder decides the order of a merged list', async (trial) => {
    const pods = await readyForPods(trial);
    await trial.create(pods, pod('a'));
    await trial.patch(`${pods}/a/status`, 'strategic', { status: { conditions: [{ type: 'one', status: 'True' }] } });
    const answer = await trial.patch(`${pods}/a/status`, 'strategic', {
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

  behaviour('a custom resource does not take it', async (trial) => {
    const { collection, apiVersion } = await widgets(trial);
    const path = await collection();
    await trial.create(path, widget(apiVersion, 'a'));
    refused(await trial.patch(`${path}/a`, 'strategic', { spec: { size: 4 } }), {
      code: 415,
      reason: 'UnsupportedMediaType',
      message:
        /^the body of the request was in an unknown format - accepted media types include: application\/json-patch\+json, application\/merge-patch\+json/,
    });
  }),
]);
