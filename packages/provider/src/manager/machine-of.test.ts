import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { labels, machine } from '@tartan/api';
import { namespaces } from '@tartan/kube';
import { coreClusters } from '../cluster/core-cluster.ts';
import { machineOf } from './machine-of.ts';
import { namespace, setStage } from './testing/stage.ts';

const { signal } = new AbortController();
const clusters = coreClusters('v1beta2');

describe('whose Node it is', () => {
  test('is read from the server, token and all; of two machines of one name the older one', async (t) => {
    const { client, clock } = await setStage(t);
    const of = machineOf(client, clusters);
    assert.equal(await of('mac-1', signal), undefined);
    const create = (inNamespace: string, name: string) =>
      client.create(machine.resource, {
        apiVersion: 'infrastructure.cluster.x-k8s.io/v1alpha1',
        kind: 'ScalewayAppleSiliconMachine',
        metadata: { name, namespace: inNamespace },
        spec: machine.spec.parse({}),
      });
    const older = await create(namespace, 'mac-1');
    await create(namespace, 'mac-10');
    clock.advance(60_000);
    // Comes first in any list.
    const elsewhere = 'a-namespace';
    await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: elsewhere } });
    await create(elsewhere, 'mac-1');
    const nothing = {
      deleting: false,
      serverID: undefined,
      providerID: undefined,
      tokenID: undefined,
      tokenExpiresAt: undefined,
    };
    assert.deepEqual(await of('mac-1', signal), { uid: older.metadata.uid, ...nothing });
    const status = { serverID: '2f4b', joinTokenID: 'abcdef', joinTokenExpires: '2026-01-01T01:00:00Z' };
    await client.patch(
      machine.resource,
      { namespace, name: 'mac-1' },
      { type: 'merge', body: { status } },
      { subresource: 'status' },
    );
    assert.deepEqual(await of('mac-1', signal), {
      uid: older.metadata.uid,
      deleting: false,
      serverID: '2f4b',
      providerID: `scw-applesilicon://${older.spec.zone}/2f4b`,
      tokenID: 'abcdef',
      tokenExpiresAt: Date.parse('2026-01-01T01:00:00Z'),
    });
  });

  test('goes on to renew its certificate while its deletion waits for a pause', async (t) => {
    const { client, installCore } = await setStage(t);
    await installCore();
    const of = machineOf(client, clusters);
    const at = { namespace, name: 'mac-1' };
    const finalizer = 'example.com/wait';
    const metadata = { ...at, finalizers: [finalizer], labels: { [labels.clusterName]: 'macs' } };
    await client.create(machine.resource, machine.make({ metadata }));
    await client.create(clusters, {
      apiVersion: 'cluster.x-k8s.io/v1beta2',
      kind: 'Cluster',
      metadata: { namespace, name: 'macs' },
      spec: { paused: true },
    });
    await client.delete(machine.resource, at);
    assert.equal((await of('mac-1', signal))?.deleting, false);
    await client.patch(clusters, { namespace, name: 'macs' }, { type: 'merge', body: { spec: { paused: null } } });
    assert.equal((await of('mac-1', signal))?.deleting, true);
  });
});
