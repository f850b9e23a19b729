import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Live } from '@tartan/kube';
import { annotations, nodeAnnotations, nodeTaints } from '../names.ts';
import { nodeChanged } from './controller.ts';
import { nodePatch } from './node-patch.ts';
import type { Node, Snapshot } from './snapshot.ts';

const meta = (name: string, more: object = {}) => ({
  name,
  uid: name,
  resourceVersion: '7',
  creationTimestamp: '2026-01-01T00:00:00Z',
  ...more,
});
const node = (more: object = {}, spec: Node['spec'] = {}): Live<Node> => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: meta('n', more),
  spec,
});
const snapshot = (marks: Record<string, string>, revisions: [string, string] = ['1', '1']): Snapshot => {
  const at = (revision: string) => ({ metadata: meta('x', { annotations: { [annotations.revision]: revision } }) });
  return {
    machine: {
      metadata: meta('m', { namespace: 'fleet', labels: marks }),
      spec: { clusterName: 'macs' },
    },
    cluster: { metadata: meta('macs') },
    machineSet: at(revisions[0]),
    machineDeployment: at(revisions[1]),
    infrastructure: undefined,
    nodes: [],
    connected: true,
    now: 0,
  };
};
const written = {
  [nodeAnnotations.clusterName]: 'macs',
  [nodeAnnotations.clusterNamespace]: 'fleet',
  [nodeAnnotations.machine]: 'm',
  [nodeAnnotations.labelsFromMachine]: '',
  [nodeAnnotations.annotationsFromMachine]: '',
};
const theirs = { key: 'example.com/theirs', effect: 'NoSchedule' } as const;

describe('the patch of a Node', () => {
  it('sets the owner annotations once, with the resourceVersion that was read', () => {
    assert.deepEqual(nodePatch(node(), snapshot({})), { metadata: { resourceVersion: '7', annotations: written } });
    assert.equal(nodePatch(node({ annotations: written }), snapshot({})), undefined);
  });

  it('sets the labels of the Machine in the synced domains, and removes labels that the Machine lost', () => {
    const before = {
      labels: { 'node.cluster.x-k8s.io/old': 'x', 'example.com/theirs': 'stays' },
      annotations: { ...written, [nodeAnnotations.labelsFromMachine]: 'node.cluster.x-k8s.io/old' },
    };
    const marks = { 'node.cluster.x-k8s.io/pool': 'a', 'pool.node.cluster.x-k8s.io/b': 'c', 'tuist.dev/fleet': 'no' };
    assert.deepEqual(nodePatch(node(before), snapshot(marks)), {
      metadata: {
        resourceVersion: '7',
        annotations: { [nodeAnnotations.labelsFromMachine]: 'node.cluster.x-k8s.io/pool,pool.node.cluster.x-k8s.io/b' },
        labels: {
          'node.cluster.x-k8s.io/old': null,
          'node.cluster.x-k8s.io/pool': 'a',
          'pool.node.cluster.x-k8s.io/b': 'c',
        },
      },
    });
  });

  it('changes only the taints of Cluster API', () => {
    const taints = [theirs, { ...nodeTaints.uninitialized }];
    const first = nodePatch(node({ annotations: written }, { taints }), snapshot({}));
    assert.deepEqual(first, { metadata: { resourceVersion: '7' }, spec: { taints: [theirs] } });
    const outdated = nodePatch(node({ annotations: written }, { taints: [theirs] }), snapshot({}, ['1', '2']));
    assert.deepEqual(outdated, {
      metadata: { resourceVersion: '7' },
      spec: { taints: [theirs, nodeTaints.outdatedRevision] },
    });
  });
});

describe('a Node', () => {
  const beating = (status: 'True' | 'False', at: string): Live<Node> => ({
    ...node(),
    status: { conditions: [{ type: 'Ready', status, lastHeartbeatTime: at }] },
  });
  it('with only a new heartbeat has not changed', () => {
    const [one, two, ill] = [beating('True', '1'), beating('True', '2'), beating('False', '2')];
    assert.equal(nodeChanged({ type: 'changed', previous: one, object: two }), false);
    assert.equal(nodeChanged({ type: 'changed', previous: one, object: ill }), true);
    assert.equal(nodeChanged({ type: 'removed', previous: one }), true);
  });
});
