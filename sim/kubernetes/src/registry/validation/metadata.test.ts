import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject } from '../../object.ts';
import { validateKindMetadataUpdate, validateMetadata, validateMetadataUpdate } from './metadata.ts';

const configMaps = { group: '', plural: 'configmaps', kind: 'ConfigMap', namespaced: true };
const leases = { group: 'coordination.k8s.io', plural: 'leases', kind: 'Lease', namespaced: true };
const namespaces = { group: '', plural: 'namespaces', kind: 'Namespace', namespaced: false };
const roles = { group: 'rbac.authorization.k8s.io', plural: 'roles', kind: 'Role', namespaced: true };

const object = (metadata: Record<string, unknown>): KubeObject =>
  ({
    apiVersion: 'v1',
    kind: 'X',
    metadata: { name: 'x', namespace: 'n', uid: 'u', ...metadata },
  }) as unknown as KubeObject;

const texts = (causes: { field: string; message: string }[]): string[] =>
  causes.map(({ field, message }) => `${field}: ${message.replace(/ \(e\.g\. .*$/, '')}`);

const owner = (fields: object): object => ({ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: '1', ...fields });

describe('metadata of a new object', () => {
  const cases: [string, Record<string, unknown>, string[]][] = [
    [
      'takes what is right',
      { labels: { 'a.b/C': '' }, annotations: { 'UPPER.case/x': 'any thing' }, finalizers: ['a.b/c', 'orphan'] },
      [],
    ],
    ['needs a name', { name: '' }, ['metadata.name: Required value: name or generateName is required']],
    ['needs a namespace', { namespace: '' }, ['metadata.namespace: Required value']],
    [
      'counts no generations below zero',
      { generation: -1 },
      ['metadata.generation: Invalid value: -1: must be greater than or equal to 0'],
    ],
    [
      'checks labels, key and value',
      { labels: { 'a b': 'c d' } },
      [
        `metadata.labels: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character`,
        `metadata.labels: Invalid value: "c d": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character`,
      ],
    ],
    [
      'limits annotations',
      { annotations: { a: 'x'.repeat(262144) } },
      ['metadata.annotations: Too long: may not be more than 262144 bytes'],
    ],
    [
      'wants owners complete',
      { ownerReferences: [owner({ apiVersion: '', kind: '', name: '', uid: '' })] },
      [
        'metadata.ownerReferences.apiVersion: Invalid value: "": version must not be empty',
        'metadata.ownerReferences.kind: Invalid value: "": must not be empty',
        'metadata.ownerReferences.name: Invalid value: "": must not be empty',
        'metadata.ownerReferences.uid: Invalid value: "": must not be empty',
      ],
    ],
    [
      'lets no event own anything',
      { ownerReferences: [owner({ kind: 'Event' })] },
      [
        'metadata.ownerReferences: Invalid value: {"apiVersion":"v1","kind":"Event","name":"p","uid":"1"}: /v1, Kind=Event is disallowed from being an owner',
      ],
    ],
    [
      'has one controller at most',
      {
        ownerReferences: [
          owner({ controller: true }),
          owner({ name: 'q', controller: true, blockOwnerDeletion: true }),
        ],
      },
      [
        'metadata.ownerReferences: Invalid value: [{"apiVersion":"v1","kind":"Pod","name":"p","uid":"1","controller":true},{"apiVersion":"v1","kind":"Pod","name":"q","uid":"1","controller":true,"blockOwnerDeletion":true}]: Only one reference can have Controller set to true. Found "true" in references for Pod/p and Pod/q',
      ],
    ],
    [
      'has one way of propagation at most',
      { finalizers: ['orphan', 'foregroundDeletion'] },
      [
        'metadata.finalizers: Invalid value: ["orphan","foregroundDeletion"]: finalizer orphan and foregroundDeletion cannot be both set',
      ],
    ],
    [
      'wants finalizers with a domain',
      { finalizers: ['x'] },
      [
        'metadata.finalizers[0]: Invalid value: "x": name is neither a standard finalizer name nor is it fully qualified',
      ],
    ],
  ];
  for (const [name, metadata, expected] of cases) {
    it(name, () => assert.deepEqual(texts(validateMetadata(object(metadata), configMaps)), expected));
  }

  it('does not need a domain in finalizers of kinds outside the core', () => {
    assert.deepEqual(validateMetadata(object({ finalizers: ['x'] }), leases), []);
  });

  it('has a name rule per kind', () => {
    const refused = (name: string, of: typeof configMaps): boolean => validateMetadata(object({ name }), of).length > 0;
    assert.deepEqual([refused('a.b', configMaps), refused('A_b', configMaps)], [false, true]);
    assert.deepEqual([refused('system:A_b', roles), refused('a/b', roles)], [false, true]);
    const cluster = { ...object({ name: 'a.b' }), metadata: { name: 'a.b' } } as KubeObject;
    assert.deepEqual(texts(validateMetadata(cluster, namespaces)), [
      'metadata.name: Invalid value: "a.b": must not contain dots',
    ]);
  });

  it('refuses a namespace of a cluster-scoped object', () => {
    assert.deepEqual(texts(validateMetadata(object({}), namespaces)), [
      'metadata.namespace: Forbidden: not allowed on this type',
    ]);
  });
});

describe('metadata of a changed object', () => {
  const old = object({ creationTimestamp: '2026-01-01T00:00:00Z', finalizers: ['a.b/c'] });
  const changed = (fields: object): KubeObject => ({ ...old, metadata: { ...old.metadata, ...fields } });

  it('keeps its identity', () => {
    assert.deepEqual(
      texts(validateMetadataUpdate(changed({ uid: 'v', name: 'y', deletionTimestamp: '2026-01-01T00:00:00Z' }), old)),
      [
        'metadata.name: Invalid value: "y": field is immutable',
        'metadata.uid: Invalid value: "v": field is immutable',
        'metadata.deletionTimestamp: Invalid value: "2026-01-01T00:00:00Z": field is immutable',
      ],
    );
  });

  it('accepts no new finalizers during deletion', () => {
    const deleting = changed({ deletionTimestamp: '2026-01-01T00:00:00Z' });
    const added = { ...deleting, metadata: { ...deleting.metadata, finalizers: ['c/d', 'a.b/c', 'a/b'] } };
    const text =
      'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"a/b", "c/d"}';
    assert.deepEqual(texts(validateMetadataUpdate(added, deleting)), [text]);
    assert.deepEqual(texts(validateKindMetadataUpdate(added, deleting, configMaps)), [text]);
    assert.deepEqual(
      validateMetadataUpdate({ ...deleting, metadata: { ...deleting.metadata, finalizers: [] } }, deleting),
      [],
    );
  });

  it('keeps a name that would be invalid today', () => {
    const before = object({ name: 'A_b' });
    assert.deepEqual(validateMetadataUpdate(before, before), []);
  });
});
