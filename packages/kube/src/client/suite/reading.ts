import assert from 'node:assert/strict';
import { configMaps, namespaces, nodes, secrets } from '../../objects/builtin.ts';
import { isKubeError } from '../../errors/kube-error.ts';
import type { Behaviour, Fixture } from './fixture.ts';
import { configMap, refused } from './writing.ts';

const secret = (namespace: string, name: string, labels: Record<string, string> = {}) =>
  ({ apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name, labels } }) as const;

const createSecrets = async ({ client, namespace }: Fixture, names: readonly string[]): Promise<void> => {
  for (const name of names) await client.create(secrets, secret(namespace, name));
};

export const reading: readonly Behaviour[] = [
  {
    sentence: 'a list follows its pages, and its items have apiVersion and kind',
    run: async (fixture) => {
      const { client, namespace } = fixture;
      const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
      await createSecrets(fixture, names);
      const { items } = await client.list(secrets, { namespace, pageSize: 3 });
      assert.deepEqual(
        items.map(({ metadata }) => metadata.name),
        names,
      );
      assert.deepEqual([items[0]?.apiVersion, items[0]?.kind], ['v1', 'Secret']);
      assert.deepEqual(items[0], await client.get(secrets, { namespace, name: 'a' }));
    },
  },
  {
    sentence: 'a list takes label and field selectors, or spans all namespaces',
    run: async ({ client, namespace }) => {
      await client.create(secrets, secret(namespace, 'a', { app: 'one' }));
      await client.create(secrets, secret(namespace, 'b', { app: 'two' }));
      const byLabel = await client.list(secrets, { namespace, labelSelector: 'app in (one)' });
      assert.deepEqual(
        byLabel.items.map(({ metadata }) => metadata.name),
        ['a'],
      );
      const everywhere = await client.list(secrets, { fieldSelector: `metadata.namespace=${namespace}` });
      assert.equal(everywhere.items.length, 2);
      await refused(client.list(secrets, { namespace, labelSelector: 'a in b' }), 'badRequest');
    },
  },
  {
    sentence: 'a watch yields exactly the changes after a list, and ends by itself',
    run: async ({ client, namespace, signal }) => {
      await client.create(secrets, secret(namespace, 'before'));
      const { resourceVersion } = await client.list(secrets, { namespace });
      await client.create(secrets, secret(namespace, 'a'));
      const body = { metadata: { annotations: { x: 'ü' } } };
      const changed = await client.patch(secrets, { namespace, name: 'a' }, { type: 'merge', body });
      await client.delete(secrets, { namespace, name: 'a' });
      const seen: string[] = [];
      const options = { namespace, resourceVersion, timeoutSeconds: 1, signal };
      for await (const event of client.watch(secrets, options)) {
        if (event.type === 'BOOKMARK') continue;
        seen.push(`${event.type} ${event.object.metadata.name}`);
        if (event.type === 'MODIFIED') assert.deepEqual(event.object, changed);
      }
      assert.deepEqual(seen, ['ADDED a', 'MODIFIED a', 'DELETED a']);
    },
  },
  {
    sentence: 'a watch ends with its signal, and when its iteration ends early',
    run: async ({ client, namespace }) => {
      const abort = new AbortController();
      const { resourceVersion } = await client.list(configMaps, { namespace });
      const options = { namespace, resourceVersion, signal: abort.signal };
      const waiting = (async () => {
        for await (const event of client.watch(configMaps, options)) {
          if (event.type === 'ADDED' && event.object.metadata.name === 'a') abort.abort();
        }
      })();
      await Promise.all([
        assert.rejects(waiting, (error: unknown) => isKubeError(error, 'aborted')),
        client.create(configMaps, configMap(namespace, 'a')),
      ]);
      const { signal } = new AbortController();
      for await (const event of client.watch(configMaps, { namespace, resourceVersion, signal })) {
        if (event.type === 'ADDED') break;
      }
    },
  },
  {
    sentence: 'an invalid call is rejected without a request',
    run: async ({ client, namespace }) => {
      await refused(client.get(secrets, { name: 'a' }), 'badRequest', /none is given. Add a namespace/);
      await refused(client.get(nodes, { name: 'a', namespace }), 'badRequest', /Leave the namespace out/);
      await refused(client.create(secrets, { apiVersion: 'v1', kind: 'Secret' }), 'badRequest', /Add a namespace/);
      for (const name of ['', '.', '..', 'a/status', 'a%2Fstatus']) {
        await refused(client.delete(namespaces, { name }), 'badRequest', /cannot be a name/);
      }
      await refused(client.get(namespaces, { name: 'a b?c#d' }), 'notFound');
    },
  },
];
