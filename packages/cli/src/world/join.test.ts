import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { aHost, aMachine, aNode, aPod, aReadyMachine, aWorld, heldBy } from '../testing/objects.ts';
import { joinMacs } from './join.ts';

const names = (world: Parameters<typeof joinMacs>[0]) =>
  joinMacs(world).map(({ machine, host, node, pods }) => [
    machine?.metadata.name ?? '-',
    host?.metadata.name ?? '-',
    node?.metadata.name ?? '-',
    pods?.map(({ metadata }) => metadata.name).join() ?? '-',
  ]);

describe('machines, Macs, Nodes and Pods', () => {
  test('find each other, and what is alone stands below', () => {
    const world = aWorld({
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
    assert.deepEqual(names(world), [
      ['mac-1', 'h-1', 'mac-1', 'build-1'],
      ['mac-2', '-', '-', '-'],
      ['-', 'h-2', '-', '-'],
      ['-', 'h-3', '-', '-'],
      ['-', '-', 'left-over', ''],
    ]);
  });

  test('a Mac that another machine holds is not that of a machine which had reserved it', () => {
    const world = aWorld({
      machines: [aMachine('late', { serverID: 'h-1' }), aMachine('first', { serverID: 'h-1' })],
      hosts: [aHost('h-1', {}, heldBy('first'))],
    });
    assert.deepEqual(names(world), [
      ['first', 'h-1', '-', '-'],
      ['late', '-', '-', '-'],
    ]);
  });

  test('a Mac that is only reserved counts for its machine', () => {
    const world = aWorld({ machines: [aMachine('m', { serverID: 'h-1' })], hosts: [aHost('h-1')] });
    assert.deepEqual(names(world), [['m', 'h-1', '-', '-']]);
  });

  test('a Node of another server does not count, though it bears the name', () => {
    const world = aWorld({ machines: [aReadyMachine('mac-1', 'h-1')], nodes: [aNode('mac-1', { host: 'other' })] });
    assert.deepEqual(names(world), [
      ['mac-1', '-', '-', '-'],
      ['-', '-', 'mac-1', ''],
    ]);
  });

  test('Pods that may not be read are not known, which is not none', () => {
    const [mac] = joinMacs(
      aWorld({ machines: [aReadyMachine('mac-1', 'h-1')], nodes: [aNode('mac-1')], pods: undefined }),
    );
    assert.equal(mac?.pods, undefined);
  });
});
