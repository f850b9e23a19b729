import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { createClient, createSubresources, customResourceDefinitions, namespaces, type Transport } from '@tartan/kube';
import { systemClock } from '@tartan/kube/clock';
import { definitions } from '../index.ts';
import { defaults, type Fixture } from './behaviours.ts';
import { examples } from './examples.ts';
import { refusals } from './refusals.ts';

/** A cluster for this suite alone, with our definitions. */
export interface ClusterWithKinds {
  transport: Transport;
  close(): Promise<void>;
}

/** Tests how an API server treats our kinds. Registers one test per behaviour. */
export const runKindSuite = (title: string, start: () => Promise<ClusterWithKinds>): void => {
  describe(title, () => {
    let cluster: ClusterWithKinds | undefined;
    before(async () => {
      cluster = await start();
    });
    after(async () => {
      cluster?.transport.close();
      await cluster?.close();
    });

    const inNamespace = async (use: (fixture: Fixture) => Promise<void>): Promise<void> => {
      if (!cluster) throw new Error('There is no cluster');
      const options = { clock: systemClock, userAgent: 'tartan-test' };
      const client = createClient(cluster.transport, options);
      const namespace = `kinds-${randomUUID().slice(0, 8)}`;
      await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
      try {
        await use({ client, subresources: createSubresources(cluster.transport, options), namespace });
      } finally {
        await client.delete(namespaces, { name: namespace });
      }
    };

    for (const { metadata } of definitions) {
      test(`the definition ${metadata?.name} is accepted without warnings`, () =>
        inNamespace(async ({ client }) => {
          const { status } = await client.get(customResourceDefinitions, { name: metadata?.name ?? '' });
          const states = (status?.conditions ?? []).map(({ type, status: is }) => `${type}=${is}`).sort();
          assert.deepEqual(states, ['Established=True', 'NamesAccepted=True']);
        }));
    }

    for (const [index, { kind, namespaced, resource, make, status }] of examples.entries()) {
      // A controller would write a field that the server drops again and again.
      test(`${kind} (example ${index + 1}) is read as it was written`, () =>
        inNamespace(async ({ client, namespace }) => {
          const name = { name: `example-${randomUUID().slice(0, 8)}`, ...(namespaced ? { namespace } : {}) };
          const wanted = make(name);
          const created = await client.create(resource, wanted);
          assert.deepEqual(created.spec, wanted.spec);
          if (status !== undefined) {
            await client.patch(resource, name, { type: 'merge', body: { status } }, { subresource: 'status' });
          }
          const read = await client.get(resource, name);
          assert.deepEqual(read.spec, wanted.spec);
          assert.deepEqual(read.status, status);
          await client.delete(resource, name);
        }));
    }

    for (const { sentence, run } of [...defaults, ...refusals]) test(sentence, () => inNamespace(run));
  });
};
