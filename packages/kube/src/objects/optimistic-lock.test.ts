import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Client } from '../client/client.ts';
import { nodes } from './builtin.ts';
import { deleteIfUnchanged, patchIfUnchanged } from './optimistic-lock.ts';

const metadata = { name: 'mini', uid: 'u-1', resourceVersion: '7', creationTimestamp: '2026-01-01T00:00:00Z' };
const read = { apiVersion: 'v1', kind: 'Node', metadata } as const;
const options = { signal: new AbortController().signal };

/** A client that answers with the arguments of the call. */
const client = {
  patch: (...call: unknown[]) => Promise.resolve(call),
  delete: (...call: unknown[]) => Promise.resolve(call),
} as unknown as Client;

describe('optimistic locking', () => {
  it('patches with the UID and the resource version that were read', async () => {
    const change = { metadata: { labels: { a: 'b' }, uid: 'another' }, spec: { unschedulable: true } };
    const body = {
      metadata: { labels: { a: 'b' }, uid: 'u-1', resourceVersion: '7' },
      spec: { unschedulable: true },
    };
    assert.deepEqual(await patchIfUnchanged(client, nodes, read, change, options), [
      nodes,
      { name: 'mini' },
      { type: 'merge', body },
      options,
    ]);
  });

  it('deletes with the UID and the resource version that were read as preconditions', async () => {
    const namespaced = { ...read, metadata: { ...metadata, namespace: 'ns' } };
    assert.deepEqual(await deleteIfUnchanged(client, nodes, namespaced, options), [
      nodes,
      { name: 'mini', namespace: 'ns' },
      { ...options, preconditions: { uid: 'u-1', resourceVersion: '7' } },
    ]);
  });
});
