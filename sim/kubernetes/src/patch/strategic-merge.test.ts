import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../errors/api-error.ts';
import { schemaOf } from '../generated/catalogue.ts';
import { copy, deepFreeze, isObject, type KubeObject } from '../object.ts';
import type { Schema } from '../schema/schema.ts';
import { applyPatch } from './apply-patch.ts';
import { listRule } from './strategic-merge-lists.ts';

const under = (schema: Schema | undefined, path: string): Schema | undefined =>
  path.split('.').reduce<Schema | undefined>((found, step) => {
    const next = found?.properties?.[step];
    return next?.items ?? next;
  }, schema);

// What clients rely on: kind, parent of the list, the list, its merge key ('' for none), its strategy.
const mergeKeys: [string, string, string, string, string, 'merge' | 'replace'][] = [
  ['', 'Pod', 'spec', 'containers', 'name', 'merge'],
  ['', 'Pod', 'spec', 'initContainers', 'name', 'merge'],
  ['', 'Pod', 'spec', 'ephemeralContainers', 'name', 'merge'],
  ['', 'Pod', 'spec', 'imagePullSecrets', 'name', 'merge'],
  ['', 'Pod', 'spec', 'schedulingGates', 'name', 'merge'],
  ['', 'Pod', 'spec', 'volumes', 'name', 'merge'],
  ['', 'Pod', 'spec', 'resourceClaims', 'name', 'merge'],
  ['', 'Pod', 'spec', 'hostAliases', 'ip', 'merge'],
  ['', 'Pod', 'spec', 'topologySpreadConstraints', 'topologyKey', 'merge'],
  ['', 'Pod', 'spec', 'tolerations', '', 'replace'],
  ['', 'Pod', 'spec.containers', 'env', 'name', 'merge'],
  ['', 'Pod', 'spec.containers', 'ports', 'containerPort', 'merge'],
  ['', 'Pod', 'spec.containers', 'volumeMounts', 'mountPath', 'merge'],
  ['', 'Pod', 'spec.containers', 'volumeDevices', 'devicePath', 'merge'],
  ['', 'Pod', 'spec.containers', 'args', '', 'replace'],
  ['', 'Pod', 'status', 'conditions', 'type', 'merge'],
  ['', 'Pod', 'status', 'podIPs', 'ip', 'merge'],
  ['', 'Pod', 'status', 'hostIPs', 'ip', 'merge'],
  ['', 'Node', 'status', 'conditions', 'type', 'merge'],
  ['', 'Node', 'status', 'addresses', 'type', 'merge'],
  ['', 'Node', 'spec', 'taints', '', 'replace'],
  ['', 'Node', 'metadata', 'ownerReferences', 'uid', 'merge'],
  ['', 'Node', 'metadata', 'finalizers', '', 'merge'],
];

for (const [group, kind, path, list, mergeKey, strategy] of mergeKeys) {
  test(`${list} in ${path} of a ${kind} is ${strategy}d${mergeKey === '' ? '' : ` by ${mergeKey}`}`, () => {
    const rule = listRule(under(schemaOf(group, 'v1', kind), path), list);
    assert.deepEqual([rule?.strategy, rule?.mergeKey], [strategy, mergeKey]);
  });
}

const node: KubeObject = deepFreeze({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: {
    name: 'n',
    uid: 'u',
    resourceVersion: '1',
    creationTimestamp: '2026-01-01T00:00:00Z',
    labels: { a: '1', b: '2' },
    finalizers: ['x/1', 'x/2'],
  },
  spec: { taints: [{ key: 'a', effect: 'NoSchedule' }] },
  status: {
    capacity: { cpu: '8', memory: '16Gi' },
    conditions: [
      { type: 'Ready', status: 'True' },
      { type: 'Disk', status: 'False', reason: 'ok' },
    ],
    addresses: [{ type: 'InternalIP', address: '10.0.0.1' }],
  },
});

const ready = { type: 'Ready', status: 'True' };
const disk = { type: 'Disk', status: 'False', reason: 'ok' };
const fresh = { type: 'New', status: 'True' };

// Each was also sent to kube-apiserver 1.36.3, with the same result.
const merges: [string, object, object][] = [
  [
    'a condition is merged with the one of its type and moves to where the patch has it',
    { status: { conditions: [{ type: 'Disk', status: 'True' }] } },
    { status: { conditions: [ready, { ...disk, status: 'True' }] } },
  ],
  [
    'a new condition stands in front of those it does not know',
    { status: { conditions: [fresh] } },
    { status: { conditions: [fresh, ready, disk] } },
  ],
  [
    '$setElementOrder puts elements in order',
    {
      status: {
        '$setElementOrder/conditions': [{ type: 'New' }, { type: 'Disk' }, { type: 'Ready' }],
        conditions: [fresh],
      },
    },
    { status: { conditions: [fresh, disk, ready] } },
  ],
  [
    '$setElementOrder needs no change besides',
    { status: { '$setElementOrder/conditions': [{ type: 'Disk' }, { type: 'Ready' }] } },
    { status: { conditions: [disk, ready] } },
  ],
  [
    '$patch: delete removes an element',
    { status: { conditions: [{ type: 'Ready', $patch: 'delete' }] } },
    { status: { conditions: [disk] } },
  ],
  [
    '$patch: replace in a list replaces it',
    { status: { conditions: [{ $patch: 'replace' }, fresh] } },
    { status: { conditions: [fresh] } },
  ],
  ['null removes a list', { status: { conditions: null } }, { status: { conditions: undefined } }],
  [
    'null removes a field of an element',
    { status: { conditions: [{ type: 'Disk', reason: null }] } },
    { status: { conditions: [ready, { type: 'Disk', status: 'False' }] } },
  ],
  [
    'a list without a merge key is replaced',
    { spec: { taints: [{ key: 'b', effect: 'NoExecute' }] } },
    { spec: { taints: [{ key: 'b', effect: 'NoExecute' }] } },
  ],
  [
    '$patch: replace in an object replaces it',
    { status: { capacity: { $patch: 'replace', cpu: '4' } } },
    { status: { capacity: { cpu: '4' } } },
  ],
  [
    '$patch: delete in an object empties it',
    { status: { capacity: { $patch: 'delete' } } },
    { status: { capacity: {} } },
  ],
  [
    '$retainKeys removes what it does not name',
    { status: { capacity: { $retainKeys: ['cpu'], cpu: '2' } } },
    { status: { capacity: { cpu: '2' } } },
  ],
  [
    'finalizers are merged as a set',
    { metadata: { finalizers: ['x/2', 'x/3'] } },
    { metadata: { finalizers: ['x/1', 'x/2', 'x/3'] } },
  ],
  [
    '$deleteFromPrimitiveList removes from a set',
    { metadata: { '$deleteFromPrimitiveList/finalizers': ['x/1', 'x/9'] } },
    { metadata: { finalizers: ['x/2'] } },
  ],
  [
    '$deleteFromPrimitiveList and $setElementOrder work together',
    {
      metadata: {
        '$deleteFromPrimitiveList/finalizers': ['x/1'],
        '$setElementOrder/finalizers': ['x/3', 'x/2'],
        finalizers: ['x/3'],
      },
    },
    { metadata: { finalizers: ['x/3', 'x/2'] } },
  ],
  [
    'labels are merged, and null removes one',
    { metadata: { labels: { a: null, c: '3' } } },
    { metadata: { labels: { b: '2', c: '3' } } },
  ],
  [
    'nulls in what is new are dropped',
    { metadata: { annotations: { a: null, b: '1' } } },
    { metadata: { annotations: { b: '1' } } },
  ],
  [
    'directives in what is new are dropped',
    { status: { nodeInfo: { $patch: 'delete', bootID: 'x' } } },
    { status: {} },
  ],
  ['the kind cannot be changed', { kind: 'X', apiVersion: 'v9' }, {}],
  ['an empty patch changes nothing', {}, {}],
];

/** The node with these fields replaced, one level down. */
const nodeWith = (changes: object): unknown => {
  const expected: Record<string, unknown> = copy(node);
  for (const [key, value] of Object.entries(changes)) {
    const fields = Object.entries({ ...fieldsOf(expected[key]), ...fieldsOf(value) });
    expected[key] = Object.fromEntries(fields.filter(([, field]) => field !== undefined));
  }
  return expected;
};

const fieldsOf = (value: unknown): Record<string, unknown> => (isObject(value) ? value : {});

for (const [name, patch, expected] of merges) {
  test(name, () => {
    const before = copy(patch);
    assert.deepEqual(applyPatch('strategic', node, patch, schemaOf('', 'v1', 'Node')), nodeWith(expected));
    assert.deepEqual(copy(patch), before);
  });
}

const refusals: [object | string | null, number, string | undefined, string][] = [
  [
    { status: { conditions: [{ status: 'x' }] } },
    500,
    undefined,
    'map: map[status:x] does not contain declared merge key: type',
  ],
  [
    { status: { conditions: [{ type: 'Ready', $patch: 'merge' }] } },
    500,
    undefined,
    'merging lists cannot yet be specified in the patch',
  ],
  [
    { status: { conditions: [{ type: 'Ready', $patch: 'zz' }] } },
    500,
    undefined,
    'unknown patch type: zz in map: map[$patch:zz type:Ready]',
  ],
  [
    { status: { conditions: [{ $patch: 'delete' }] } },
    500,
    undefined,
    'map: map[$patch:delete] does not contain declared merge key: type',
  ],
  [{ status: { $patch: 'merge' } }, 500, undefined, 'unknown patch type: merge in map: map[$patch:merge]'],
  [{ status: { $retainKeys: 'x' } }, 400, 'BadRequest', 'invalid patch format of retainKeys'],
  [{ status: { $retainKeys: ['addresses'], conditions: [] } }, 400, 'BadRequest', 'invalid patch format of retainKeys'],
  [
    { status: { '$setElementOrder/conditions': 'x' } },
    500,
    undefined,
    'expected a []interface {}, but received a string',
  ],
  [{ status: { '$setElementOrder/conditions': ['x'] } }, 500, undefined, 'value for key 0 is not a map'],
  [
    { status: { '$setElementOrder/conditions': [{ x: 1 }] } },
    500,
    undefined,
    'map: map[x:1] does not contain declared merge key: type',
  ],
  [{ status: { $setElementOrder: [] } }, 400, 'BadRequest', 'invalid patch format of setElementOrder list'],
  [
    { status: { '$setElementOrder/conditions': [{ type: 'Ready' }], conditions: [{ type: 'Disk', status: 'x' }] } },
    500,
    undefined,
    "The order in patch list:\n[map[status:x type:Disk]]\n doesn't match $setElementOrder list:\n[map[type:Ready]]\n",
  ],
  [{ metadata: { $deleteFromPrimitiveList: ['x'] } }, 400, 'BadRequest', 'invalid patch format of primitive list'],
  [{ metadata: { finalizers: [1] } }, 500, undefined, 'list element types are not identical: [[x/1 x/2] [1]]'],
  [
    { metadata: 'x' },
    422,
    'Invalid',
    ' "" is invalid: patch: Invalid value: "map[metadata:x]": cannot restore struct from: string',
  ],
  [[1], 400, 'BadRequest', 'json: cannot unmarshal array into Go value of type map[string]interface {}'],
  ['a', 400, 'BadRequest', 'json: cannot unmarshal string into Go value of type map[string]interface {}'],
];

for (const [patch, code, reason, message] of refusals) {
  test(`the strategic merge patch ${JSON.stringify(patch)} is refused as the real server does`, () => {
    assert.throws(
      () => applyPatch('strategic', node, patch, schemaOf('', 'v1', 'Node')),
      (error) =>
        error instanceof ApiError && error.code === code && error.status.reason === reason && error.message === message,
    );
  });
}

test('null is an empty patch', () => {
  assert.deepEqual(applyPatch('strategic', node, null, schemaOf('', 'v1', 'Node')), node);
});

test('there is no strategic merge without a schema', () => {
  assert.throws(() => applyPatch('strategic', node, {}, undefined), /strategic merge patch format is not supported/);
});
