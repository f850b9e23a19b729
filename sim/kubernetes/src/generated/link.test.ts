import assert from 'node:assert/strict';
import { test } from 'node:test';
import { linker } from './link.ts';

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

test('a reference becomes the schema it names, and both ways to it lead to the same object', () => {
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

test('alternatives are linked, the group-version-kind mark is left out, and an unknown name is undefined', () => {
  const link = linker({
    Either: { oneOf: [{ type: 'string' }, ref('Number')], 'x-kubernetes-group-version-kind': [{ kind: 'Either' }] },
    Number: { type: 'number' },
  });
  assert.deepEqual(link('Either'), { oneOf: [{ type: 'string' }, { type: 'number' }] });
  assert.equal(link('Nothing'), undefined);
  assert.equal(link('toString'), undefined);
});
