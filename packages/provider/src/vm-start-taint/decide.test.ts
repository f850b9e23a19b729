import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { macTaint, vmStartTaint } from '@tartan/api';
import type { Node } from '../controller-deps.ts';
import { decide } from './controller.ts';

type Taints = NonNullable<NonNullable<Node['spec']>['taints']>;

const mac = { 'kubernetes.io/os': 'darwin', 'tuist.dev/runtime': 'tart' };
const ours = { ...vmStartTaint };
const others: Taints = [{ ...macTaint }, { key: 'node.kubernetes.io/not-ready', effect: 'NoExecute' }];
const node = (starts: string | undefined, taints: Taints, labels: Record<string, string> = mac): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'mac-1', labels },
  spec: { taints },
  status: {
    conditions: [
      { type: 'Ready', status: 'True' },
      ...(starts === undefined ? [] : [{ type: 'VMStart', status: starts }]),
    ],
  },
});

describe('the VM start taint', () => {
  const { spec: _, ...withoutSpec } = node('False', []);
  const table: readonly [string, Node, string, Taints?][] = [
    ['starts are refused', node('False', others), 'add taint', [...others, ours]],
    ['starts are refused, and it has no taint', node('False', []), 'add taint', [ours]],
    ['starts are refused, and it is tainted', node('False', [...others, ours]), 'skip'],
    ['starts work again', node('True', [ours, ...others]), 'remove taint', others],
    ['starts work', node('True', others), 'skip'],
    ['an agent has just come up, on a Mac that is tainted', node('Unknown', [ours]), 'skip'],
    ['an agent has just come up', node('Unknown', others), 'skip'],
    ['an agent that knows no such condition', node(undefined, [ours]), 'remove taint', []],
    [
      'a taint of somebody else with the same key',
      node('True', [{ key: vmStartTaint.key, effect: 'NoExecute' }]),
      'skip',
    ],
    ['a Node that is no Mac', node('False', [], { ...mac, 'kubernetes.io/os': 'linux' }), 'skip'],
    ['a Mac with another runtime', node('False', [], { ...mac, 'tuist.dev/runtime': 'other' }), 'skip'],
    ['starts are refused, and it has no spec', withoutSpec, 'add taint', [ours]],
    ['a Mac without a status', { apiVersion: 'v1', kind: 'Node', metadata: { labels: mac } }, 'skip'],
    ['a Mac without conditions', { apiVersion: 'v1', kind: 'Node', metadata: { labels: mac }, status: {} }, 'skip'],
    ['a Node of which nothing is known', { apiVersion: 'v1', kind: 'Node' }, 'skip'],
    [
      'a Node that is being deleted',
      { ...node('False', []), metadata: { name: 'mac-1', labels: mac, deletionTimestamp: '2026-06-01T12:00:00Z' } },
      'skip',
    ],
  ];
  for (const [what, seen, kind, taints] of table)
    it(`${what}: ${kind}`, () => assert.deepEqual(decide(seen), taints === undefined ? { kind } : { kind, taints }));
});
