import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container, PodSpec } from '../shapes.ts';
import { podRequests } from './requests.ts';

const asks = (requests: Record<string, string>, restartPolicy?: string): Container => ({
  name: 'c',
  resources: { requests },
  ...(restartPolicy ? { restartPolicy } : {}),
});

const table: [string, PodSpec, Record<string, number>][] = [
  ['nothing asked', { containers: [{ name: 'c' }] }, {}],
  [
    'containers add up',
    { containers: [asks({ cpu: '500m' }), asks({ cpu: '1', memory: '1k' })] },
    { cpu: 1.5, memory: 1000 },
  ],
  [
    'the largest init container counts, not their sum',
    { containers: [asks({ cpu: '1' })], initContainers: [asks({ cpu: '3' }), asks({ cpu: '2' })] },
    { cpu: 3 },
  ],
  [
    'an init container that is smaller than the containers does not count',
    { containers: [asks({ cpu: '2' })], initContainers: [asks({ cpu: '1', memory: '5' })] },
    { cpu: 2, memory: 5 },
  ],
  [
    'a sidecar runs beside the containers',
    { containers: [asks({ cpu: '1' })], initContainers: [asks({ cpu: '2' }, 'Always')] },
    { cpu: 3 },
  ],
  [
    'an init container runs beside the sidecars before it only',
    {
      containers: [asks({ cpu: '1' })],
      initContainers: [asks({ cpu: '9' }), asks({ cpu: '2' }, 'Always'), asks({ cpu: '8' })],
    },
    { cpu: 10 },
  ],
  [
    'requests of the Pod stand in for those of its containers, but for extended resources',
    {
      containers: [asks({ cpu: '1', 'example.com/gpu': '1' })],
      resources: { requests: { cpu: '4', 'example.com/gpu': '7' } },
    },
    { cpu: 4, 'example.com/gpu': 1 },
  ],
  ['overhead comes on top', { containers: [asks({ cpu: '1' })], overhead: { cpu: '250m' } }, { cpu: 1.25 }],
];

for (const [name, spec, expected] of table) {
  test(`requests: ${name}`, () => {
    const metadata = { name: 'p', uid: 'u', resourceVersion: '1', creationTimestamp: '' };
    const amounts = podRequests({ apiVersion: 'v1', kind: 'Pod', metadata, spec });
    const shown = Object.fromEntries([...amounts].map(([key, amount]) => [key, Number(amount) / 1e9]));
    assert.deepEqual(shown, expected);
  });
}
