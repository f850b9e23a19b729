import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { finalizers, labels, labelValues } from '@tartan/api';
import { decidePod, type PodDecision } from './pods.ts';

const at = '2026-01-01T00:00:00Z';

interface Case {
  readonly phase?: 'Pending' | 'Running' | 'Succeeded' | 'Failed';
  readonly isDeleted?: boolean;
  readonly hasGuest?: boolean;
  readonly os?: string;
  readonly containers?: number;
}

const podWith = ({
  phase = 'Pending',
  isDeleted = false,
  hasGuest = false,
  os = labelValues.os,
  containers = 1,
}: Case) => ({
  apiVersion: 'v1' as const,
  kind: 'Pod' as const,
  metadata: {
    name: 'build',
    namespace: 'default',
    uid: 'u',
    resourceVersion: '1',
    creationTimestamp: at,
    ...(hasGuest && { finalizers: [finalizers.vmCleanup] }),
    ...(isDeleted && { deletionTimestamp: at }),
  },
  spec: {
    nodeSelector: { [labels.os]: os },
    containers: Array.from({ length: containers }, (_, index) => ({ name: `c${index}`, image: 'ghcr.io/a/b:1' })),
  },
  status: { phase },
});

const cases: readonly [what: string, pod: Case, kind: PodDecision['kind']][] = [
  ['a new Pod gets the finalizer before anything runs', {}, 'add finalizer'],
  ['then it runs', { hasGuest: true }, 'run'],
  ['a running Pod is left alone', { hasGuest: true, phase: 'Running' }, 'none'],
  ['the guest of a deleted Pod is shut down', { hasGuest: true, phase: 'Running', isDeleted: true }, 'end'],
  ['a deleted Pod that never ran its guest ends too', { hasGuest: true, isDeleted: true }, 'end'],
  ['after its end the finalizer goes', { hasGuest: true, phase: 'Succeeded', isDeleted: true }, 'remove finalizer'],
  ['without the finalizer a deleted Pod goes', { phase: 'Succeeded', isDeleted: true }, 'delete Pod'],
  ['a deleted Pod that was never accepted goes', { isDeleted: true }, 'delete Pod'],
  ['a Pod that has ended stays until somebody deletes it', { phase: 'Failed' }, 'none'],
  ['a Pod that cannot be a virtual machine is rejected', { containers: 2 }, 'reject'],
  ['a Pod for another system waits', { os: 'linux' }, 'none'],
];

describe('Pods of a played Mac', () => {
  for (const [what, pod, kind] of cases) test(what, () => assert.equal(decidePod(podWith(pod)).kind, kind));
});
