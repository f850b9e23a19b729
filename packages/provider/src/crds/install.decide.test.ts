import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type CustomResourceDefinition, definitions } from '@tartan/api/crds';
import type { Live } from '@tartan/kube';
import { decide, schemaPaths } from './install.ts';
import { withExtraField, withSchema } from './testing/definitions.ts';

const [machine] = definitions as [CustomResourceDefinition];

const live = (definition: CustomResourceDefinition, metadata: object = {}): Live<CustomResourceDefinition> => ({
  ...definition,
  metadata: {
    ...definition.metadata,
    name: definition.metadata?.name ?? '',
    uid: 'u',
    resourceVersion: '7',
    creationTimestamp: '2026-01-01T00:00:00Z',
    ...metadata,
  },
});

const stays = { dropFields: false };

describe('decide, for a CustomResourceDefinition', () => {
  const more = withExtraField(machine, 'later');
  const cases: readonly [
    name: string,
    wanted: CustomResourceDefinition,
    found: CustomResourceDefinition | undefined,
    kind: ReturnType<typeof decide>['kind'],
  ][] = [
    ['is missing: created', machine, undefined, 'create'],
    ['is the same: the server says that nothing changes', machine, machine, 'update'],
    ['lacks a field: replaced', more, machine, 'update'],
    ['has a field more: kept', machine, more, 'keep'],
    ['has one more and one less: refused', withExtraField(machine, 'ours'), more, 'refuse'],
    [
      'is laxer otherwise: replaced',
      machine,
      withSchema(machine, (schema) => ({ ...schema, description: 'x' })),
      'update',
    ],
  ];
  for (const [name, wanted, found, kind] of cases)
    test(name, () => assert.equal(decide(wanted, found && live(found), stays).kind, kind));

  test('a newer definition is recognised by its fields, enum values and versions', () => {
    assert.deepEqual(decide(machine, live(more), stays), { kind: 'keep', more: ['v1alpha1.spec.later'] });
    const [version] = machine.spec.versions;
    assert.ok(version);
    const served = { ...machine, spec: { ...machine.spec, versions: [version, { ...version, name: 'v2' }] } };
    assert.equal(decide(machine, live(served), stays).kind, 'keep');
    const values = (...words: string[]) =>
      withSchema(machine, () => ({ type: 'object', properties: { mode: { type: 'string', enum: words } } }));
    assert.deepEqual(decide(values('a'), live(values('a', 'b')), stays), {
      kind: 'keep',
      more: ['v1alpha1.mode="b"'],
    });
  });

  test('with dropFields the older definition is applied', () => {
    assert.equal(decide(machine, live(more), { dropFields: true }).kind, 'update');
  });

  test('labels and annotations of others are kept, and the update is guarded by the resourceVersion', () => {
    const found = live(machine, { labels: { theirs: 'x' }, annotations: { helm: 'y' } });
    const decision = decide(machine, found, stays);
    assert.ok(decision.kind === 'update');
    const { metadata, spec } = decision.object;
    assert.deepEqual(metadata.labels, { theirs: 'x', ...machine.metadata?.labels });
    assert.deepEqual(metadata.annotations, { helm: 'y' });
    assert.equal(metadata.resourceVersion, '7');
    assert.equal(spec, machine.spec);
  });

  test('missing fields are found inside lists and maps too', () => {
    const nested = withSchema(machine, () => ({
      type: 'object',
      properties: {
        list: { type: 'array', items: { type: 'object', properties: { a: { type: 'string' } } } },
        map: { type: 'object', additionalProperties: { type: 'object', properties: { b: { type: 'string' } } } },
      },
    }));
    assert.deepEqual(
      [...schemaPaths(nested)],
      ['v1alpha1', 'v1alpha1.list', 'v1alpha1.list[].a', 'v1alpha1.map', 'v1alpha1.map.*.b'],
    );
  });
});
