import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createKubernetes } from '@tartan/sim-kubernetes';
import { manualClock } from '../clock/manual-clock.ts';
import { settle } from '../clock/testing/real-time.ts';
import { configMaps, namespaces } from '../objects/builtin.ts';
import { inProcessTransport } from '../transport/in-process-transport.ts';
import { createClient } from './create-client.ts';

test('an hour of watching on a manual clock takes no real time and no socket', async () => {
  const clock = manualClock();
  const kubernetes = await createKubernetes({ clock, controllers: false });
  const user = { commonName: 'kubernetes-admin', organizations: ['system:masters'] };
  const client = createClient(inProcessTransport(kubernetes.handle, { user }), { clock });
  await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n' } });
  const { resourceVersion } = await client.list(configMaps, { namespace: 'n' });

  const seen: string[] = [];
  const watching = (async () => {
    const { signal } = new AbortController();
    for await (const event of client.watch(configMaps, {
      namespace: 'n',
      resourceVersion,
      timeoutSeconds: 3600,
      signal,
    })) {
      seen.push(event.type);
    }
  })();
  await settle();
  const created = await client.create(configMaps, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: 'n', name: 'a' },
  });
  assert.equal(created.metadata.creationTimestamp, '2026-01-01T00:00:00Z');
  for (let minute = 0; minute < 60; minute++) {
    clock.advance(60_000);
    await settle();
  }
  await watching;
  assert.equal(seen[0], 'ADDED');
  assert.ok(seen.filter((type) => type === 'BOOKMARK').length >= 59);
  kubernetes.stop();
});
