import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../object.ts';
import { plainStrategy, type Resource } from '../resource.ts';
import { pods } from './pod-columns.ts';
import { partialMetadataListOf, partialMetadataOf, tableOf, type TableOptions } from './table.ts';

const same = (object: KubeObject): KubeObject => object;

const resource: Resource = {
  group: '',
  version: 'v1',
  kind: 'ServiceAccount',
  listKind: 'ServiceAccountList',
  plural: 'serviceaccounts',
  singular: 'serviceaccount',
  shortNames: [],
  categories: [],
  namespaced: true,
  verbs: ['get'],
  custom: false,
  schema: undefined,
  strategy: plainStrategy,
  subresources: [],
  prefix: '/serviceaccounts/',
  toStored: same,
  fromStored: same,
};

const object: KubeObject = {
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: { name: 'x', uid: 'u', resourceVersion: '7', creationTimestamp: '2026-01-01T00:00:00Z' },
  secrets: [],
};

const options: TableOptions = {
  now: Date.parse('2026-01-01T00:00:06Z'),
  includeObject: 'Metadata',
  listMetadata: { resourceVersion: '9' },
  columns: true,
};

const partial = { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: object.metadata };

test('a table has columns, and rows with the metadata of their objects', () => {
  assert.deepEqual(tableOf(resource, [object], options), {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata: { resourceVersion: '9' },
    columnDefinitions: [
      { name: 'Name', type: 'string', format: 'name', description: '', priority: 0 },
      { name: 'Age', type: 'string', format: '', description: '', priority: 0 },
    ],
    rows: [{ cells: ['x', '6s'], object: partial }],
  });
});

test('rows include the whole object, or none', () => {
  const rows = (includeObject: TableOptions['includeObject']): unknown =>
    tableOf(resource, [object], { ...options, includeObject })['rows'];
  assert.deepEqual(rows('Object'), [{ cells: ['x', '6s'], object }]);
  assert.deepEqual(rows('None'), [{ cells: ['x', '6s'], object: null }]);
});

test('later tables of a watch have no columns', () => {
  assert.equal(tableOf(resource, [object], { ...options, columns: false })['columnDefinitions'], null);
});

test('a table without rows has an empty list of them', () => {
  assert.deepEqual(tableOf(resource, [], options)['rows'], []);
});

test('a row marks a completed pod', () => {
  const table = tableOf(
    { ...resource, strategy: { ...plainStrategy, columns: pods } },
    [{ ...object, status: { phase: 'Succeeded' } }],
    { ...options, includeObject: 'None' },
  );
  assert.deepEqual(table['rows'], [
    {
      cells: ['x', '0/0', 'Succeeded', '0', '6s', '<none>', '<none>', '<none>', '<none>'],
      conditions: [
        { type: 'Completed', status: 'True', reason: 'Succeeded', message: 'The pod has completed successfully.' },
      ],
      object: null,
    },
  ]);
});

test('items of a metadata list have their kind', () => {
  assert.deepEqual(partialMetadataOf(object), partial);
  assert.deepEqual(partialMetadataListOf([object], { resourceVersion: '9' }), {
    kind: 'PartialObjectMetadataList',
    apiVersion: 'meta.k8s.io/v1',
    metadata: { resourceVersion: '9' },
    items: [partial],
  });
});
