import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Client, Patch } from '../client/client.ts';
import { KubeError } from '../errors/kube-error.ts';
import { addFinalizer, hasFinalizer, removeFinalizer } from './finalizers.ts';
import { defineResource, type KubeObject, type Live, type ObjectName } from './object.ts';

const nodes = defineResource({ group: '', version: 'v1', kind: 'Node', plural: 'nodes', namespaced: false });
const ours = 'example.com/ours';

/** A server with one object that supports merge patches of finalizers, resource versions and deletion. */
const serverWith = (metadata: Partial<Live<KubeObject>['metadata']> = {}) => {
  const log: string[] = [];
  const names: ObjectName[] = [];
  const server = {
    log,
    names,
    /** The stored object. */
    object: {
      metadata: { name: 'a', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z', ...metadata },
    } as Live<KubeObject> | undefined,
    write: (change: Partial<Live<KubeObject>['metadata']>): void => {
      const { object } = server;
      assert.ok(object);
      const resourceVersion = String(Number(object.metadata.resourceVersion) + 1);
      server.object = { ...object, metadata: { ...object.metadata, ...change, resourceVersion } };
    },
    read: (): Live<KubeObject> => {
      assert.ok(server.object);
      return structuredClone(server.object);
    },
    client: {
      patch: (_resource: unknown, name: ObjectName, patch: Patch) => {
        names.push(name);
        assert.equal(patch.type, 'merge');
        const { metadata, ...rest } = patch.body as { metadata: { resourceVersion: string; finalizers: string[] } };
        assert.deepEqual(rest, {}, 'nothing but metadata is written');
        assert.deepEqual(Object.keys(metadata).sort(), ['finalizers', 'resourceVersion', 'uid']);
        log.push(`patch ${metadata.finalizers.join()}`);
        if (server.object === undefined) return Promise.reject(new KubeError('notFound', 'gone'));
        if (metadata.resourceVersion !== server.object.metadata.resourceVersion)
          return Promise.reject(new KubeError('conflict', 'changed'));
        server.write({ finalizers: metadata.finalizers });
        const answer = server.read();
        if (answer.metadata.deletionTimestamp !== undefined && metadata.finalizers.length === 0)
          server.object = undefined;
        return Promise.resolve(answer);
      },
    } as unknown as Client,
  };
  return server;
};

describe('addFinalizer', () => {
  it('appends to the finalizers of others', async () => {
    const { client, read } = serverWith({ finalizers: ['example.com/theirs'] });
    const after = await addFinalizer(client, nodes, read(), ours);
    assert.deepEqual(after.metadata.finalizers, ['example.com/theirs', ours]);
    assert.equal(hasFinalizer(after, ours), true);
  });

  it('sends nothing when the finalizer exists', async () => {
    const { client, read, log } = serverWith({ finalizers: [ours] });
    const object = read();
    assert.equal(await addFinalizer(client, nodes, object, ours), object);
    assert.deepEqual(log, []);
  });

  it('rejects with conflict after a concurrent write, and does not overwrite it', async () => {
    const server = serverWith();
    const stale = server.read();
    server.write({ finalizers: ['example.com/theirs'] });
    await assert.rejects(addFinalizer(server.client, nodes, stale, ours), { reason: 'conflict' });
    assert.deepEqual(server.read().metadata.finalizers, ['example.com/theirs']);
  });

  it('sets a namespace only for namespaced objects', async () => {
    const namespaced = serverWith({ namespace: 'ns' });
    await addFinalizer(namespaced.client, nodes, namespaced.read(), ours);
    assert.deepEqual(namespaced.names, [{ name: 'a', namespace: 'ns' }]);
    const cluster = serverWith();
    await addFinalizer(cluster.client, nodes, cluster.read(), ours);
    assert.deepEqual(cluster.names, [{ name: 'a' }]);
  });
});

describe('removeFinalizer', () => {
  it('removes ours and keeps those of others', async () => {
    const { client, read } = serverWith({ finalizers: ['example.com/a', ours, 'example.com/b'] });
    const after = await removeFinalizer(client, nodes, read(), ours);
    assert.deepEqual(after?.metadata.finalizers, ['example.com/a', 'example.com/b']);
  });

  it('sends nothing when the finalizer does not exist', async () => {
    const { client, read, log } = serverWith({ finalizers: ['example.com/a'] });
    const object = read();
    assert.equal(await removeFinalizer(client, nodes, object, ours), object);
    assert.deepEqual(log, []);
  });

  it('returns undefined when the object is gone', async () => {
    const server = serverWith({ finalizers: [ours] });
    const object = server.read();
    server.object = undefined;
    assert.equal(await removeFinalizer(server.client, nodes, object, ours), undefined);
  });

  it('rejects with conflict when another finalizer was added concurrently', async () => {
    const server = serverWith({ finalizers: [ours] });
    const stale = server.read();
    server.write({ finalizers: [ours, 'example.com/theirs'] });
    await assert.rejects(removeFinalizer(server.client, nodes, stale, ours), { reason: 'conflict' });
    assert.deepEqual(server.read().metadata.finalizers, [ours, 'example.com/theirs']);
  });
});
