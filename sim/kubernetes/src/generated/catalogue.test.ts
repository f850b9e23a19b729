import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Schema } from '../schema/schema.ts';
import { catalogue, linker, rawSchemaName, rawSchemas, schemaOf } from './catalogue.ts';

test('the catalogue has the version of its Kubernetes, and its resources', () => {
  assert.match(catalogue.version, /^v1\.36\./);
  const core = catalogue.groups.find(({ group, version }) => group === '' && version === 'v1');
  const eviction = core?.resources.find(({ name }) => name === 'pods/eviction');
  assert.deepEqual([eviction?.group, eviction?.version, eviction?.kind], ['policy', 'v1', 'Eviction']);
});

test('every kind of the catalogue has a schema without unresolved references', () => {
  const seen = new Set<Schema>();
  const visit = (schema: Schema, path: string): void => {
    if (seen.has(schema)) return;
    seen.add(schema);
    assert.ok(!('$ref' in schema), path);
    for (const [name, child] of Object.entries(schema.properties ?? {})) visit(child, `${path}.${name}`);
    if (schema.items) visit(schema.items, `${path}[]`);
    if (typeof schema.additionalProperties === 'object') visit(schema.additionalProperties, `${path}{}`);
    for (const part of [...(schema.allOf ?? []), ...(schema.oneOf ?? []), ...(schema.anyOf ?? [])]) visit(part, path);
  };
  for (const { group, version, resources } of catalogue.groups) {
    for (const { name, kind } of resources) {
      if (name.includes('/')) continue;
      const schema = schemaOf(group, version, kind);
      assert.ok(schema, `${group}/${version} ${kind}`);
      visit(schema, kind);
    }
  }
  assert.ok(seen.size > 500);
});

test('merge keys of lists are kept by the linking', () => {
  const containers = schemaOf('', 'v1', 'Pod')?.properties?.['spec']?.properties?.['containers'];
  assert.equal(containers?.['x-kubernetes-patch-merge-key'], 'name');
  assert.equal(containers?.items?.properties?.['name']?.type, 'string');
  assert.equal(containers?.items?.properties?.['resources']?.type, 'object');
});

test('a schema of schemas contains itself', () => {
  const version = schemaOf('apiextensions.k8s.io', 'v1', 'CustomResourceDefinition')?.properties?.['spec']
    ?.properties?.['versions']?.items;
  const props = version?.properties?.['schema']?.properties?.['openAPIV3Schema'];
  const not = props?.properties?.['not'];
  assert.ok(not);
  assert.equal(not.properties?.['not'], not);
});

test('an unknown kind has no schema', () => {
  assert.equal(schemaOf('apps', 'v9', 'Nothing'), undefined);
  assert.equal(rawSchemaName('', 'v1', 'toString'), undefined);
  assert.ok(rawSchemas[rawSchemaName('', 'v1', 'Pod') ?? '']);
});

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

test('a reference becomes the schema it names, and two references become the same object', () => {
  const link = linker({
    Pod: { type: 'object', properties: { metadata: ref('Meta'), other: ref('Meta') } },
    Meta: { type: 'object', properties: { name: { type: 'string' } } },
  });
  const pod = link('Pod');
  assert.equal(pod?.properties?.['metadata']?.properties?.['name']?.type, 'string');
  assert.equal(pod?.properties?.['metadata'], pod?.properties?.['other']);
  assert.equal(pod?.properties?.['metadata'], link('Meta'));
});

test('allOf with one reference and siblings becomes one schema, in which the siblings win', () => {
  const link = linker({
    Pod: {
      properties: {
        spec: {
          default: {},
          description: 'of the field',
          allOf: [ref('Spec')],
          'x-kubernetes-patch-strategy': 'replace',
        },
      },
    },
    Spec: { type: 'object', description: 'of the type', required: ['a'] },
  });
  assert.deepEqual(link('Pod')?.properties?.['spec'], {
    type: 'object',
    description: 'of the field',
    required: ['a'],
    default: {},
    'x-kubernetes-patch-strategy': 'replace',
  });
  assert.deepEqual(link('Spec'), { type: 'object', description: 'of the type', required: ['a'] });
});

test('a schema that contains itself becomes a cycle, also through items, additionalProperties and allOf', () => {
  const link = linker({
    Props: {
      type: 'object',
      properties: {
        not: ref('Props'),
        list: { type: 'array', items: { default: {}, allOf: [ref('Props')] } },
        map: { type: 'object', additionalProperties: ref('Props') },
      },
    },
  });
  const props = link('Props');
  assert.equal(props?.properties?.['not'], props);
  assert.equal(props?.properties?.['map']?.additionalProperties, props);
  const item = props?.properties?.['list']?.items;
  assert.equal(item?.properties?.['not'], props);
  assert.equal(item?.properties?.['list']?.items, item);
});

test('alternatives are linked, the group-version-kind extension is dropped, and an unknown name is undefined', () => {
  const link = linker({
    Either: { oneOf: [{ type: 'string' }, ref('Number')], 'x-kubernetes-group-version-kind': [{ kind: 'Either' }] },
    Number: { type: 'number' },
  });
  assert.deepEqual(link('Either'), { oneOf: [{ type: 'string' }, { type: 'number' }] });
  assert.equal(link('Nothing'), undefined);
  assert.equal(link('toString'), undefined);
});
