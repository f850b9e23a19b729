import assert from 'node:assert/strict';
import { behaviour, topic } from '../behaviour.ts';
import { includes } from '../expect.ts';
import { configMap, pod, secret } from '../objects.ts';
import { read, readList } from '../read.ts';
import { readyForPods } from '../pods.ts';

const asTable = { headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json' } };

const columnNames = (table: unknown): unknown[] =>
  readList(table, 'columnDefinitions').map((column) => read(column, 'name'));

export const tables = topic('tables', [
  behaviour('a list as Table has a row per object, with its metadata as PartialObjectMetadata', async (context) => {
    const secrets = await context.collection('secrets');
    const created = await context.create(secrets, secret('a', { tier: 'x' }));
    const answer = await context.get(secrets, asTable);
    assert.equal(answer.code, 200);
    assert.equal(answer.headers['content-type'], 'application/json');
    includes(answer.json, { kind: 'Table', apiVersion: 'meta.k8s.io/v1' });
    assert.deepEqual(columnNames(answer.json), ['Name', 'Type', 'Data', 'Age']);
    const rows = readList(answer.json, 'rows');
    assert.equal(rows.length, 1);
    assert.deepEqual(readList(rows[0], 'cells').slice(0, 3), ['a', 'Opaque', 0]);
    includes(read(rows[0], 'object'), {
      kind: 'PartialObjectMetadata',
      apiVersion: 'meta.k8s.io/v1',
      metadata: { name: 'a', uid: created.metadata.uid, labels: { tier: 'x' } },
    });
    assert.match(String(read(answer.json, 'metadata.resourceVersion')), /^[1-9]\d*$/);
  }),

  behaviour('a single object as Table is a table of one row', async (context) => {
    const configMaps = await context.collection('configmaps');
    await context.create(configMaps, configMap('one', { data: { a: '1', b: '2' } }));
    const answer = await context.get(`${configMaps}/one`, asTable);
    assert.deepEqual(columnNames(answer.json), ['Name', 'Data', 'Age']);
    assert.deepEqual(readList(answer.json, 'rows.0.cells').slice(0, 2), ['one', 2]);
  }),

  behaviour('includeObject=Object includes whole objects in the rows, None omits them', async (context) => {
    const configMaps = await context.collection('configmaps');
    await context.create(configMaps, configMap('one', { data: { a: '1' } }));
    const whole = await context.get(`${configMaps}/one?includeObject=Object`, asTable);
    includes(read(whole.json, 'rows.0.object'), { kind: 'ConfigMap', apiVersion: 'v1', data: { a: '1' } });
    const none = await context.get(`${configMaps}/one?includeObject=None`, asTable);
    assert.equal(read(none.json, 'rows.0.object'), null);
  }),

  behaviour('in a watch as Table only the first event has the columns', async (context) => {
    const secrets = await context.collection('secrets');
    const stream = await context.cluster.stream({
      method: 'GET',
      path: `${secrets}?watch=true&timeoutSeconds=10`,
      ...asTable,
    });
    assert.equal(stream.headers['content-type'], 'application/json');
    await context.create(secrets, secret('a'));
    await context.create(secrets, secret('b'));
    const seen: unknown[] = [];
    for await (const event of stream.events) {
      seen.push(event);
      if (seen.length === 2) break;
    }
    stream.close();
    assert.deepEqual(
      seen.map((event) => read(event, 'object.rows.0.cells.0')),
      ['a', 'b'],
    );
    assert.equal(read(seen[0], 'object.kind'), 'Table');
    assert.equal(readList(seen[0], 'object.columnDefinitions').length, 4);
    assert.equal(readList(seen[1], 'object.columnDefinitions').length, 0);
  }),

  behaviour('pods have the columns that kubectl shows, wide ones with priority 1', async (context) => {
    const pods = await readyForPods(context);
    await context.create(pods, pod('a'));
    const answer = await context.get(pods, asTable);
    assert.deepEqual(
      readList(answer.json, 'columnDefinitions').map((column) => [read(column, 'name'), read(column, 'priority')]),
      [
        ['Name', 0],
        ['Ready', 0],
        ['Status', 0],
        ['Restarts', 0],
        ['Age', 0],
        ['IP', 1],
        ['Node', 1],
        ['Nominated Node', 1],
        ['Readiness Gates', 1],
      ],
    );
    const cells = readList(answer.json, 'rows.0.cells');
    assert.deepEqual(cells.slice(0, 4), ['a', '0/1', 'Pending', '0']);
    assert.deepEqual(cells.slice(5), ['<none>', '<none>', '<none>', '<none>']);
  }),

  behaviour('a Table of an unknown version is not acceptable unless JSON is accepted too', async (context) => {
    const configMaps = await context.collection('configmaps');
    const table = 'application/json;as=Table;v=v9;g=meta.k8s.io';
    assert.equal((await context.get(configMaps, { headers: { accept: table } })).code, 406);
    const both = await context.get(configMaps, { headers: { accept: `${table},application/json` } });
    assert.equal(read(both.json, 'kind'), 'ConfigMapList');
  }),
]);
