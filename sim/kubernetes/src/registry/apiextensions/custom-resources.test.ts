import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { deepFreeze, type KubeObject } from '../../object.ts';
import type { Resource, WriteContext } from '../../resource.ts';
import { resourcesOf } from './custom-resources.ts';

const context = {} as unknown as WriteContext;

const schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: { a: { type: 'string', default: 'x' }, replicas: { type: 'integer' }, flag: { type: 'boolean' } },
    },
    status: { type: 'object', properties: { replicas: { type: 'integer' }, selector: { type: 'string' } } },
  },
};
const scale = {
  specReplicasPath: '.spec.replicas',
  statusReplicasPath: '.status.replicas',
  labelSelectorPath: '.status.selector',
};
const versions = [
  {
    name: 'v1',
    served: true,
    storage: false,
    schema: { openAPIV3Schema: schema },
    subresources: { status: {}, scale },
    selectableFields: [{ jsonPath: '.spec.a' }, { jsonPath: '.spec.flag' }],
  },
  { name: 'v2', served: true, storage: true, schema: { openAPIV3Schema: { ...schema, properties: {} } } },
  { name: 'v0', served: false, storage: false, schema: { openAPIV3Schema: schema } },
];

const definition = (established = 'True', metadata: object = {}): KubeObject =>
  deepFreeze({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'things.ex.io', uid: 'u', resourceVersion: '1', creationTimestamp: '', ...metadata },
    spec: { group: 'ex.io', scope: 'Namespaced', names: { plural: 'things', kind: 'Thing' }, versions },
    status: {
      conditions: [{ type: 'Established', status: established }],
      acceptedNames: { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList', shortNames: ['th'] },
    },
  });

const first = (crd = definition()): Resource => {
  const [resource] = resourcesOf(crd);
  assert.ok(resource);
  return resource;
};

const thing = (fields: object = {}, apiVersion = 'ex.io/v1'): KubeObject => ({
  apiVersion,
  kind: 'Thing',
  metadata: {
    name: 't',
    namespace: 'default',
    uid: 'u',
    resourceVersion: '7',
    creationTimestamp: '2026-01-01T00:00:00Z',
  },
  ...fields,
});

describe('resourcesOf', () => {
  it('serves one resource for each served version', () => {
    assert.deepEqual(
      resourcesOf(definition()).map(({ version, prefix }) => [version, prefix]),
      [
        ['v1', 'ex.io/things/'],
        ['v2', 'ex.io/things/'],
      ],
    );
  });

  it('serves nothing before the names are accepted', () => {
    assert.deepEqual(resourcesOf(definition('False')), []);
  });

  it('lists what discovery shows', () => {
    const { kind, listKind, singular, shortNames, namespaced, custom, verbs, subresources } = first();
    assert.deepEqual(
      { kind, listKind, singular, shortNames, namespaced, custom, verbs },
      {
        kind: 'Thing',
        listKind: 'ThingList',
        singular: 'thing',
        shortNames: ['th'],
        namespaced: true,
        custom: true,
        verbs: ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'],
      },
    );
    assert.deepEqual(
      subresources.map(({ name, group, version, kind: of, verbs: can }) => [name, group, version, of, ...can]),
      [
        ['status', 'ex.io', 'v1', 'Thing', 'get', 'patch', 'update'],
        ['scale', 'autoscaling', 'v1', 'Scale', 'get', 'patch', 'update'],
      ],
    );
  });

  it('has a status endpoint only with a status subresource', () => {
    assert.deepEqual(
      resourcesOf(definition()).map(({ strategy }) => [
        strategy.hasStatus,
        strategy.hasGeneration,
        strategy.allowUnconditionalUpdate,
      ]),
      [
        [true, true, false],
        [false, true, false],
      ],
    );
  });

  it('stores objects in the storage version and returns them in its own', () => {
    const resource = first();
    const stored = deepFreeze(resource.toStored(thing({ spec: {} })));
    assert.equal(stored.apiVersion, 'ex.io/v2');
    assert.deepEqual(resource.fromStored(stored), thing({ spec: { a: 'x' } }));
  });

  it('prunes and defaults on writes', () => {
    const object = thing({ spec: { nope: 1, replicas: null }, zz: 1 });
    first().strategy.applyDefaults(object);
    assert.deepEqual(object, thing({ spec: { a: 'x' } }));
  });

  it('ignores the status in a create', () => {
    const object = thing({ status: { replicas: 3 } });
    first().strategy.prepareForCreate(object, context);
    assert.equal(object['status'], undefined);
  });

  it('accepts no new objects while the definition is being deleted', () => {
    const resource = first(definition('True', { deletionTimestamp: '2026-01-01T00:00:00Z' }));
    assert.throws(() => resource.strategy.prepareForCreate(thing(), context), {
      message: 'things.ex.io "t" is forbidden: create not allowed while custom resource definition is terminating',
      code: 403,
    });
  });

  it('validates type, schema and scale', () => {
    const { strategy } = first();
    const causes = (object: KubeObject): string[] =>
      strategy.validate(object, undefined, context).map(({ field, message }) => `${field}: ${message}`);
    assert.deepEqual(causes({ ...thing(), kind: 'Foo' }), ['kind: Invalid value: "Foo": must be Thing']);
    assert.deepEqual(causes(thing({ spec: { replicas: -1 } })), [
      '.spec.replicas: Invalid value: -1: should be a non-negative integer',
    ]);
    assert.deepEqual(causes(thing({ spec: { replicas: '1' } })), [
      'spec.replicas: Invalid value: "string": spec.replicas in body must be of type integer: "string"',
      '.spec.replicas: Invalid value: 0: .spec.replicas accessor error: 1 is of the type string, expected int64',
    ]);
  });

  it('validates only the status in a status write', () => {
    const { strategy } = first();
    const old = thing({ spec: { replicas: 'x' } });
    assert.deepEqual(
      strategy
        .validateStatus(thing({ spec: { replicas: 'x' }, status: 'long' }), old, context)
        .map(({ field, message }) => [field, message]),
      [
        ['status', 'Invalid value: "string":  in body must be of type object: "string"'],
        [
          '.status.replicas',
          'Invalid value: 0: .status.replicas accessor error: long is of the type string, expected map[string]interface{}',
        ],
        [
          '.status.selector',
          'Invalid value: "": .status.selector accessor error: long is of the type string, expected map[string]interface{}',
        ],
      ],
    );
  });

  it('selects by the selectableFields of the version', () => {
    const { strategy } = first();
    assert.deepEqual(strategy.selectableFields(thing({ spec: { a: 'y', flag: true } })), {
      'spec.a': 'y',
      'spec.flag': 'true',
    });
    assert.deepEqual(strategy.selectableFields(thing()), { 'spec.a': '', 'spec.flag': '' });
  });
});
