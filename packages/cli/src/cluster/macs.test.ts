import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { aClusterState, aHost, aMachine, aNode, aPod, aReadyMachine, heldBy } from '../testing/objects.ts';
import { joinMacs } from './macs.ts';

const names = (state: Parameters<typeof joinMacs>[0]) =>
  joinMacs(state).map(({ machine, host, node, pods }) => [
    machine?.metadata.name ?? '-',
    host?.metadata.name ?? '-',
    node?.metadata.name ?? '-',
    pods?.map(({ metadata }) => metadata.name).join() ?? '-',
  ]);

describe('machines, Macs, Nodes and Pods', () => {
  test('are joined; objects without a counterpart come last', () => {
    const state = aClusterState({
      machines: [aReadyMachine('mac-1', 'h-1'), aMachine('mac-2')],
      hosts: [aHost('h-3', { state: 'stranded' }), aHost('h-2'), aHost('h-1', { state: 'held' }, heldBy('mac-1'))],
      nodes: [
        aNode('mac-1', { host: 'h-1' }),
        aNode('left-over'),
        { ...aNode('linux'), metadata: { ...aNode('linux').metadata, labels: {} } },
      ],
      pods: [
        aPod('build-1', 'mac-1'),
        aPod('done', 'mac-1', { status: { phase: 'Succeeded' } }),
        aPod('elsewhere', 'linux'),
      ],
    });
    assert.deepEqual(names(state), [
      ['mac-1', 'h-1', 'mac-1', 'build-1'],
      ['mac-2', '-', '-', '-'],
      ['-', 'h-2', '-', '-'],
      ['-', 'h-3', '-', '-'],
      ['-', '-', 'left-over', ''],
    ]);
  });

  test('a host held by another machine does not belong to the machine that reserved it', () => {
    const state = aClusterState({
      machines: [aMachine('late', { serverID: 'h-1' }), aMachine('first', { serverID: 'h-1' })],
      hosts: [aHost('h-1', {}, heldBy('first'))],
    });
    assert.deepEqual(names(state), [
      ['first', 'h-1', '-', '-'],
      ['late', '-', '-', '-'],
    ]);
  });

  test('a reserved host belongs to its machine', () => {
    const state = aClusterState({ machines: [aMachine('m', { serverID: 'h-1' })], hosts: [aHost('h-1')] });
    assert.deepEqual(names(state), [['m', 'h-1', '-', '-']]);
  });

  test('a Node with another provider ID does not match by name', () => {
    const state = aClusterState({
      machines: [aReadyMachine('mac-1', 'h-1')],
      nodes: [aNode('mac-1', { host: 'other' })],
    });
    assert.deepEqual(names(state), [
      ['mac-1', '-', '-', '-'],
      ['-', '-', 'mac-1', ''],
    ]);
  });

  test('unreadable Pods are undefined, not an empty list', () => {
    const [mac] = joinMacs(
      aClusterState({ machines: [aReadyMachine('mac-1', 'h-1')], nodes: [aNode('mac-1')], pods: undefined }),
    );
    assert.equal(mac?.pods, undefined);
  });
});
