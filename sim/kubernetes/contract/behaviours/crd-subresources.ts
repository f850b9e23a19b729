import assert from 'node:assert/strict';
import { behaviour, topic } from '../behaviour.ts';
import { includes, refused } from '../expect.ts';
import { read, readList } from '../read.ts';
import { widget, widgets } from '../widgets.ts';

const asTable = { headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' } };

export const crdSubresources = topic('scale and printer columns of custom resources', [
  behaviour('scale returns the replicas and the selector', async (context) => {
    const { collection, apiVersion } = await widgets(context);
    const path = await collection();
    const created = await context.create(path, widget(apiVersion, 'a', { replicas: 4 }));
    await context.edit(`${path}/a/status`, { status: { replicas: 2, selector: 'app=a' } });
    const scale = await context.fetch(`${path}/a/scale`);
    includes(scale, {
      kind: 'Scale',
      apiVersion: 'autoscaling/v1',
      metadata: { name: 'a', namespace: await context.namespace(), uid: created.metadata.uid },
      spec: { replicas: 4 },
      status: { replicas: 2, selector: 'app=a' },
    });
  }),

  behaviour('a write to scale changes the replicas of the object, and its generation', async (context) => {
    const { collection, apiVersion } = await widgets(context);
    const path = await collection();
    await context.create(path, widget(apiVersion, 'a'));
    const patched = await context.edit(`${path}/a/scale`, { spec: { replicas: 5 } });
    includes(patched, { kind: 'Scale', spec: { replicas: 5 } });
    includes(await context.fetch(`${path}/a`), { spec: { replicas: 5, size: 3 }, metadata: { generation: 2 } });
    const replaced = await context.replace(`${path}/a/scale`, { ...patched, spec: { replicas: 6 } });
    includes(replaced, { spec: { replicas: 6 } });
    refused(await context.put(`${path}/a/scale`, { ...patched, spec: { replicas: 7 } }), {
      code: 409,
      reason: 'Conflict',
    });
  }),

  behaviour('a negative scale is invalid', async (context) => {
    const { collection, apiVersion } = await widgets(context);
    const path = await collection();
    await context.create(path, widget(apiVersion, 'a'));
    refused(await context.patch(`${path}/a/scale`, 'merge', { spec: { replicas: -1 } }), {
      code: 422,
      reason: 'Invalid',
      message: /spec\.replicas: Invalid value: -1: should be a non-negative integer/,
    });
  }),

  behaviour('a table has the columns of the definition, with the name in front', async (context) => {
    const { collection, apiVersion } = await widgets(context);
    const path = await collection();
    await context.create(path, widget(apiVersion, 'a'));
    await context.create(path, widget(apiVersion, 'b', { mode: 'fast' }));
    await context.edit(`${path}/b/status`, { status: { phase: 'Ready' } });
    const table = (await context.get(path, asTable)).json;
    assert.deepEqual(
      readList(table, 'columnDefinitions').map((column) => [
        read(column, 'name'),
        read(column, 'type'),
        read(column, 'priority'),
      ]),
      [
        ['Name', 'string', 0],
        ['Size', 'integer', 0],
        ['Phase', 'string', 0],
        ['Mode', 'string', 1],
        ['Age', 'date', 0],
      ],
    );
    assert.deepEqual(
      readList(table, 'rows').map((row) => readList(row, 'cells').slice(0, 4)),
      [
        ['a', 3, null, 'slow'],
        ['b', 3, 'Ready', 'fast'],
      ],
    );
  }),
]);
