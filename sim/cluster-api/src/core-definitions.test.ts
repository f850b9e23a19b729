import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  createClient,
  customResourceDefinitions,
  defineResource,
  inProcessTransport,
  type KubeObject,
} from '@tartan/kube';
import { systemClock } from '@tartan/kube/clock';
import { createKubernetes, type Kubernetes } from '@tartan/sim-kubernetes';
import { coreDefinitions } from './core-definitions.ts';

interface Core extends KubeObject {
  spec?: Record<string, unknown>;
  status?: Record<string, unknown>;
}

describe('the kinds of Cluster API core', () => {
  let kubernetes: Kubernetes;
  before(async () => {
    kubernetes = await createKubernetes();
  });
  after(() => kubernetes.stop());

  test('are served in both versions, keep all fields, and have a status subresource', async () => {
    const user = { commonName: 'admin', organizations: ['system:masters'] };
    const client = createClient(inProcessTransport(kubernetes.handle, { user }), { clock: systemClock });
    for (const definition of coreDefinitions()) await client.create(customResourceDefinitions, definition);
    for (const { spec } of coreDefinitions()) {
      const { kind, plural } = spec.names;
      const served = (version: string) =>
        defineResource<Core>({ group: 'cluster.x-k8s.io', version, kind, plural, namespaced: true });
      const name = { namespace: 'default', name: 'one' };
      await client.create(served('v1beta2'), {
        apiVersion: 'cluster.x-k8s.io/v1beta2',
        kind,
        metadata: name,
        spec: { replicas: 2, clusterName: 'c' },
        status: { phase: 'ignored' },
      });
      await client.patch(
        served('v1beta2'),
        name,
        { type: 'merge', body: { status: { replicas: 1 } } },
        { subresource: 'status' },
      );
      const { spec: kept, status } = await client.get(served('v1beta1'), name);
      assert.deepEqual([kept, status], [{ replicas: 2, clusterName: 'c' }, { replicas: 1 }], kind);
    }
  });
});
