import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nodes } from './builtin.ts';
import type { OwnerReference } from './object.ts';
import { controllerReference, getControllerOf, isOwnedBy, withOwnerReference } from './owners.ts';

const metadata = { name: 'mini', uid: 'u-1', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' };
const owner: OwnerReference = {
  apiVersion: 'v1',
  kind: 'Node',
  name: 'mini',
  uid: 'u-1',
  controller: true,
  blockOwnerDeletion: true,
};
const other: OwnerReference = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'u-2' };

describe('controllerReference', () => {
  it('names the owner as controller and blocks its deletion', () => {
    assert.deepEqual(controllerReference({ metadata }, nodes), owner);
  });
});

describe('setOwner', () => {
  it('adds a reference after those of others', () => {
    assert.deepEqual(withOwnerReference([other], owner), [other, owner]);
    assert.deepEqual(withOwnerReference(undefined, owner), [owner]);
  });
  it('replaces an older reference to the same owner', () => {
    assert.deepEqual(withOwnerReference([{ ...owner, apiVersion: 'v1alpha1' }, other], owner), [other, owner]);
    const { controller: _, ...plain } = owner;
    assert.deepEqual(withOwnerReference([plain, other], owner), [other, owner]);
  });
  it('rejects a second controller', () => {
    assert.throws(() => withOwnerReference([{ ...other, controller: true }], owner), /ReplicaSet web is\. Remove/);
    assert.doesNotThrow(() => withOwnerReference([owner], other));
  });
});

describe('the owner of an object', () => {
  const object = { metadata: { ownerReferences: [other, owner] } };
  it('is compared by UID', () => {
    assert.equal(isOwnedBy(object, 'u-2'), true);
    assert.equal(isOwnedBy(object, 'u-3'), false);
    assert.equal(isOwnedBy({}, 'u-2'), false);
    assert.equal(isOwnedBy({ metadata: {} }, 'u-2'), false);
  });
  it('is at most one controller', () => {
    assert.equal(getControllerOf(object), owner);
    assert.equal(getControllerOf({ metadata: { ownerReferences: [other] } }), undefined);
    assert.equal(getControllerOf({}), undefined);
    assert.equal(getControllerOf({ metadata: {} }), undefined);
  });
});
