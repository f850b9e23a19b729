import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { annotations, labels, runnerBusyCondition } from '@tartan/api';
import { nodeFacts, podFacts } from '../pool/snapshot.ts';
import { trimNode, trimPod, trimServiceAccount } from './caches.ts';

const metadata = {
  name: 'it',
  namespace: 'ci',
  uid: 'u',
  resourceVersion: '1',
  creationTimestamp: '2026-01-01T00:00:00Z',
  managedFields: [{ manager: 'somebody' }],
};
const { managedFields: _, ...kept } = metadata;

describe('the fields that caches keep', () => {
  test('of a Pod are those that decisions read, not its template', () => {
    const whole = () => ({
      apiVersion: 'v1' as const,
      kind: 'Pod' as const,
      metadata: {
        ...metadata,
        labels: { [labels.runnerPool]: 'macos' },
        annotations: { [annotations.runnerID]: '7', [annotations.runnerRetired]: '2026-01-01T00:00:00Z' },
      },
      spec: {
        nodeName: 'mac-1',
        containers: [{ name: 'runner', image: 'macos', env: [{ name: 'A', value: 'b' }] }],
        volumes: [{ name: 'runner' }],
      },
      status: {
        phase: 'Running' as const,
        conditions: [
          { type: 'PodScheduled', status: 'True', lastTransitionTime: '2026-01-01T00:00:01Z' },
          { type: runnerBusyCondition, status: 'False' },
        ],
      },
    });
    const node = { kind: 'gone' } as const;
    const pod = trimPod(whole());
    assert.deepEqual(podFacts(pod, 'macos', node), podFacts(whole(), 'macos', node));
    assert.deepEqual(pod.spec, { nodeName: 'mac-1', containers: [{ name: 'runner', image: 'macos' }] });
    assert.equal(pod.metadata.managedFields, undefined);
  });

  test('of a ServiceAccount are its name and its owner', () => {
    const account = trimServiceAccount({
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata,
      secrets: [{ name: 'token' }],
    });
    assert.deepEqual(account, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: kept });
  });

  test('of a Node are its Ready condition and whether it is schedulable', () => {
    const heartbeat = { lastHeartbeatTime: '2026-01-01T00:05:00Z', message: 'the agent speaks' };
    const whole = (unschedulable: boolean) => ({
      apiVersion: 'v1' as const,
      kind: 'Node' as const,
      metadata: { ...metadata, labels: { a: 'b' }, annotations: { c: 'd' } },
      spec: { providerID: 'scaleway://x', ...(unschedulable && { unschedulable }) },
      status: {
        images: [{ names: ['macos'], sizeBytes: 50e9 }],
        conditions: [
          { type: 'MemoryPressure', status: 'False' as const },
          { type: 'Ready', status: 'True' as const, lastTransitionTime: '2026-01-01T00:00:00Z', ...heartbeat },
        ],
      },
    });
    for (const isClosed of [true, false])
      assert.deepEqual(nodeFacts(trimNode(whole(isClosed))), nodeFacts(whole(isClosed)));
    assert.deepEqual(trimNode(whole(true)), {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: kept,
      spec: { unschedulable: true },
      status: { conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }] },
    });
  });
});
