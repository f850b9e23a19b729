import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { NotDoneError } from '../shell.ts';
import { aClusterState, aFleet, aHost, aMachine, aNode, aPod, heldBy } from '../testing/objects.ts';
import { nameOf, resolveName } from './resolve-name.ts';

describe('resolveName', () => {
  const state = aClusterState({
    machines: [aMachine('mac-1'), aMachine('twin'), aMachine('twin', {}, { namespace: 'other' }), aMachine('both')],
    hosts: [aHost('48d7f3f6-1cab', { name: 'mac-1' }, heldBy('mac-1')), aHost('48d7aaaa-1cab'), aHost('c0b3a682-a479')],
    nodes: [aNode('mac-1'), aNode('lonely')],
    pods: [aPod('build-1', 'mac-1'), aPod('both', 'mac-1')],
    fleets: [aFleet('macos')],
  });
  const found = (asked: string, namespace?: string): string => {
    try {
      return nameOf(resolveName(asked, state, namespace).subject);
    } catch (error) {
      assert.ok(error instanceof NotDoneError);
      return error.message;
    }
  };

  const cases: readonly [asked: string, is: string][] = [
    ['mac-1', 'machine/default/mac-1'],
    ['node/mac-1', 'node/mac-1'],
    ['nodes/lonely', 'node/lonely'],
    ['lonely', 'node/lonely'],
    ['build-1', 'pod/default/build-1'],
    ['pod/build-1', 'pod/default/build-1'],
    ['default/build-1', 'pod/default/build-1'],
    ['po/default/build-1', 'pod/default/build-1'],
    ['c0b3a682-a479', 'host/c0b3a682-a479'],
    ['c0b3', 'host/c0b3a682-a479'],
    ['c0b3a68…', 'host/c0b3a682-a479'],
    ['tuist-pool-c0b3a682-a479', 'host/c0b3a682-a479'],
    ['fleet/macos', 'fleet/default/macos'],
    ['other/twin', 'machine/other/twin'],
  ];
  for (const [asked, is] of cases) test(`${asked} is ${is}`, () => assert.equal(found(asked), is));

  test('a namespace selects between two objects of the same name', () => {
    assert.match(
      found('twin'),
      /^twin is ambiguous: machine\/default\/twin, machine\/other\/twin\. Use one of these names\.$/,
    );
    assert.equal(found('twin', 'other'), 'machine/other/twin');
  });

  test('an ambiguous prefix is rejected, and so is one that is too short', () => {
    assert.match(found('48d7'), /^48d7 is ambiguous: host\/48d7f3f6-1cab, host\/48d7aaaa-1cab\./);
    assert.match(found('c'), /has the name c\./);
  });

  test('other objects of the same name are listed, unless they belong to the same machine', () => {
    const other = (asked: string): string[] => resolveName(asked, state).others.map(nameOf);
    assert.deepEqual(other('both'), ['pod/default/both']);
    assert.deepEqual(other('mac-1'), []);
  });

  test('a typo gets a suggestion', () => {
    assert.match(found('mac1'), /Did you mean machine\/default\/mac-1/);
    assert.match(found('something-else'), /tartan fleet lists all machines and Macs\.$/);
  });
});
