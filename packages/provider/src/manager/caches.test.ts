import assert from 'node:assert/strict';
import { test } from 'node:test';
import { finalizers } from '@tartan/api';
import {
  createClient,
  createLogger,
  inProcessTransport,
  keyOf,
  namespaces,
  nodes,
  pods,
  serviceAccounts,
} from '@tartan/kube';
import { manualClock } from '@tartan/kube/clock';
import { settle } from '@tartan/kube/testing';
import { createKubernetes } from '@tartan/sim-kubernetes';
import { createCaches } from './caches.ts';

const namespace = 'runners';

test('only Pods with the finalizer of an agent are cached, from when it is added until it is removed', async (t) => {
  const clock = manualClock();
  const kubernetes = await createKubernetes({ clock, controllers: false });
  t.after(() => kubernetes.stop());
  const user = { commonName: 'admin', organizations: ['system:masters'] };
  const client = createClient(inProcessTransport(kubernetes.handle, { user }), { clock });
  await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default', namespace } } as const;
  await client.create(serviceAccounts, account);
  const addPod = (name: string, held: readonly string[] = [], nodeName?: string) =>
    client.create(pods, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace, finalizers: [...held] },
      spec: { containers: [{ name: 'vm', image: 'macos' }], ...(nodeName !== undefined && { nodeName }) },
    });
  const hold = (name: string, held: readonly string[]) =>
    client.patch(pods, { namespace, name }, { type: 'merge', body: { metadata: { finalizers: held } } });
  await client.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'linux-1' } });
  await addPod('foreign', ['example.com/backup'], 'linux-1');
  await addPod('unbound');
  await addPod('held', [finalizers.vmCleanup], 'mac-1');

  const log = createLogger({ write: () => {}, clock, level: 'error' });
  const random = () => 0.5;
  const { pods: cache } = createCaches({ client, clock, random, log, coreVersion: 'v1beta2', secretsNamespace: 'x' });
  const changes: string[] = [];
  cache.subscribe((change) => {
    const { metadata, spec } = change.type === 'removed' ? change.previous : change.object;
    changes.push(`${change.type} ${metadata.name} on ${spec?.nodeName}`);
  });
  const stop = new AbortController();
  const running = cache.run(stop.signal);
  t.after(async () => {
    stop.abort();
    await running;
  });
  await settle();
  assert.deepEqual(changes.splice(0), ['added held on mac-1'], 'by the first list');

  await addPod('later', [], 'mac-2');
  await client.patch(
    pods,
    { namespace, name: 'foreign' },
    { type: 'merge', body: { metadata: { labels: { a: 'b' } } } },
  );
  await settle();
  assert.deepEqual(changes.splice(0), [], 'bound to a Mac whose agent has not seen it, and whose Node nobody knows');
  await hold('later', [finalizers.vmCleanup]);
  await settle();
  assert.deepEqual(changes.splice(0), ['added later on mac-2']);
  await hold('held', []);
  await client.delete(pods, { namespace, name: 'later' }, { gracePeriodSeconds: 0 });
  await hold('later', []);
  await settle();
  assert.deepEqual(changes.splice(0), ['removed held on mac-1', 'changed later on mac-2', 'removed later on mac-2']);
  assert.deepEqual(
    cache.list().map(({ metadata }) => keyOf(metadata)),
    [],
  );
});
