import type { TestContext } from 'node:test';
import { kindNames } from '@tartan/api';
import { createRedactor, type OwnerReference } from '@tartan/kube';
import { coreClusters } from '../../core/kinds.ts';
import { createTestCluster } from '../../testing/test-cluster.ts';

export const namespace = 'fleet';
export const clusters = coreClusters('v1beta2');

/** A Cluster of Cluster API, in a cluster with our CRDs. */
export const createHarness = async (t: TestContext, startTime?: number) => {
  const writes: string[] = [];
  const harness = await createTestCluster(t, {
    namespace,
    kinds: [kindNames.cluster.kind, kindNames.controlPlane.kind],
    startTime,
    onRequest: (method, url) => {
      const path = url.split('?')[0] ?? '';
      if (method !== 'GET' && !path.endsWith('/events')) writes.push(`${method} ${path}`);
    },
  });
  const { client, settle, advance } = harness;
  const { apiVersion, kind, name } = { apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'Cluster', name: 'macs' } as const;
  const cluster = await client.create(clusters, { apiVersion, kind, metadata: { name, namespace }, spec: {} });
  const owner: OwnerReference = { apiVersion, kind, name, uid: cluster.metadata.uid };
  return {
    ...harness,
    owner,
    // Not the redactor of the log: tests check whether a token reaches the logger.
    redactor: createRedactor(),
    /** The controller's write requests, oldest first. */
    writes,
    pass: (minutes: number) => advance(minutes * 60_000, (minutes > 60 ? 5 : 1) * 60_000),
    setPaused: async (paused: boolean): Promise<void> => {
      await client.patch(clusters, { namespace, name }, { type: 'merge', body: { spec: { paused } } });
      await settle();
    },
  };
};
