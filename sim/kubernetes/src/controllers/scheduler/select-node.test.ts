import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Node, NodeSpec, Pod, PodSpec, Quantities } from '../runtime/objects.ts';
import type { NodeInfo } from './filters.ts';
import { type ScheduleResult, selectNode } from './scheduler.ts';

const metadata = { uid: 'u', resourceVersion: '1', creationTimestamp: '' };

const pod = (requests: Quantities = {}, spec: PodSpec = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { ...metadata, name: 'p' },
  spec: { containers: [{ name: 'c', resources: { requests } }], ...spec },
});

const mac = (name: string, pods: Pod[] = [], spec: NodeSpec = {}, allocatable: Quantities = {}): NodeInfo => {
  const node: Node = {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { ...metadata, name, labels: { name } },
    spec,
    status: { allocatable: { cpu: '4', memory: '8Gi', pods: '2', ...allocatable } },
  };
  return { node, pods };
};

const tainted: NodeSpec = { taints: [{ key: 'x', effect: 'NoExecute' }] };
const cordon: NodeSpec = {
  unschedulable: true,
  taints: [{ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }],
};
const byName = (...values: string[]): PodSpec => ({
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [
          { matchFields: values.map((value) => ({ key: 'metadata.name', operator: 'In', values: [value] })) },
        ],
      },
    },
  },
});
const helpless = (count: number) =>
  `no new claims to deallocate, preemption: 0/${count} nodes are available: ${count} Preemption is not helpful for scheduling.`;

const table: [string, Pod, NodeInfo[], ScheduleResult][] = [
  ['no Nodes', pod(), [], { unschedulable: 'no nodes available to schedule pods' }],
  ['an empty Node takes it', pod({ cpu: '4' }), [mac('a')], { node: 'a' }],
  ['the Node with fewer Pods is taken', pod(), [mac('a', [pod()]), mac('b')], { node: 'b' }],
  ['of equal Nodes the first by name is taken', pod(), [mac('b'), mac('a')], { node: 'a' }],
  [
    'what the other Pods need is not there',
    pod({ cpu: '3' }),
    [mac('a', [pod({ cpu: '1500m' })])],
    {
      unschedulable:
        '0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.',
    },
  ],
  ['exactly what is left is enough', pod({ cpu: '2500m' }), [mac('a', [pod({ cpu: '1500m' })])], { node: 'a' }],
  [
    'more than a Node ever has, and a taint',
    pod({ cpu: '5' }),
    [mac('a'), mac('b', [], tainted)],
    {
      unschedulable: `0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s). ${helpless(2)}`,
    },
  ],
  [
    'all that is missing is said',
    pod({ cpu: '3', 'example.com/gpu': '1' }),
    [mac('a', [pod({ cpu: '3' }), pod()])],
    {
      unschedulable: `0/1 nodes are available: 1 Insufficient cpu, 1 Insufficient example.com/gpu, 1 Too many pods. ${helpless(1)}`,
    },
  ],
  [
    'an extended resource',
    pod({ 'example.com/gpu': '1' }),
    [mac('a', [], {}, { 'example.com/gpu': '1' })],
    { node: 'a' },
  ],
  [
    'the place for Pods is limited',
    pod(),
    [mac('a', [pod(), pod()])],
    {
      unschedulable:
        '0/1 nodes are available: 1 Too many pods. no new claims to deallocate, preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.',
    },
  ],
  [
    'a taint that is tolerated does not count',
    pod({}, { tolerations: [{ operator: 'Exists' }] }),
    [mac('a', [], tainted)],
    { node: 'a' },
  ],
  [
    'a taint that only prefers does not count',
    pod(),
    [mac('a', [], { taints: [{ key: 'x', effect: 'PreferNoSchedule' }] })],
    { node: 'a' },
  ],
  [
    'a cordoned Node',
    pod(),
    [mac('a', [], cordon)],
    { unschedulable: `0/1 nodes are available: 1 node(s) were unschedulable. ${helpless(1)}` },
  ],
  [
    'a cordoned Node and a Pod that does not mind',
    pod({}, { tolerations: [{ key: 'node.kubernetes.io/unschedulable', operator: 'Exists' }] }),
    [mac('a', [], cordon)],
    { node: 'a' },
  ],
  [
    'a selector that fits none',
    pod({}, { nodeSelector: { name: 'z' } }),
    [mac('a')],
    { unschedulable: `0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector. ${helpless(1)}` },
  ],
  [
    'a Node by name that does not take it',
    pod({}, byName('a')),
    [mac('a', [], tainted), mac('b')],
    {
      unschedulable: `0/2 nodes are available: 1 node(s) didn't satisfy plugin(s) [NodeAffinity], 1 node(s) had untolerated taint(s). ${helpless(2)}`,
    },
  ],
  [
    'two names at once',
    pod({}, byName('a', 'b')),
    [mac('a'), mac('b')],
    { unschedulable: '0/2 nodes are available: pod affinity terms conflict. not found' },
  ],
];

for (const [name, wanting, places, expected] of table) {
  test(`placement: ${name}`, () => assert.deepEqual(selectNode(wanting, places), expected));
}
