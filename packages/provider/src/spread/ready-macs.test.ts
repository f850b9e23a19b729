import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { labels } from '@tartan/api';
import type { InformerEvent, Live } from '@tartan/kube';
import { manualClock } from '@tartan/kube/clock';
import type { Node } from '../controller-deps.ts';
import { createReadyMacTracker } from './ready-macs.ts';
import { macNode } from './testing/mac-node.ts';

type Change = InformerEvent<Node>;
const live = (node: Node) => node as Live<Node>;
const added = (node: Node): Change => ({ type: 'added', object: live(node) });
const changed = (previous: Node, object: Node): Change => ({
  type: 'changed',
  previous: live(previous),
  object: live(object),
});
const removed = (previous: Node): Change => ({ type: 'removed', previous: live(previous) });

const ready = macNode('a');
const notReady = macNode('a', { ready: false });
const leaving: Node = { ...ready, metadata: { ...ready.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
const linux: Node = { ...ready, metadata: { name: 'a', labels: { 'kubernetes.io/os': 'linux' } } };
const bare: Node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'a' } };

describe('what counts as a Mac that joins or leaves', () => {
  const table: [string, Change, boolean][] = [
    ['a Ready Mac that registers', added(ready), true],
    ['a Mac that registers before it is Ready', added(notReady), false],
    ['a Mac that becomes Ready', changed(notReady, ready), true],
    ['a Mac that is no longer Ready', changed(ready, notReady), true],
    ['a heartbeat', changed(ready, { ...ready, spec: { unschedulable: true } }), false],
    ['a Ready Mac that is removed', removed(ready), true],
    ['a Mac that is removed when it was no longer Ready', removed(notReady), false],
    ['a Ready Mac whose deletion begins', changed(ready, leaving), true],
    ['a Ready Mac that moves to another fleet', changed(ready, macNode('a', { fleet: 'builders' })), true],
    ['a Node that is no Mac', added(linux), false],
    ['a Node of which nothing is known yet', added(bare), false],
  ];
  for (const [name, change, flip] of table)
    it(`${name}: ${flip ? 'yes' : 'no'}`, () => {
      assert.equal(createReadyMacTracker(manualClock(), 60_000).record(change), flip);
    });
});

describe('stableForMs', () => {
  const runners = { [labels.fleet]: 'runners' };
  const builders = { [labels.fleet]: 'builders' };

  it('counts from the last change, also a reverted one', () => {
    const clock = manualClock();
    const readyMacs = createReadyMacTracker(clock, 60_000);
    assert.equal(readyMacs.stableForMs({}), Infinity);
    readyMacs.record(added(ready));
    clock.advance(50_000);
    readyMacs.record(changed(ready, notReady));
    readyMacs.record(changed(notReady, ready));
    clock.advance(1000);
    assert.equal(readyMacs.stableForMs(runners), 1000);
    readyMacs.clear();
    assert.equal(readyMacs.stableForMs(runners), Infinity);
  });

  it('ignores Nodes of other fleets', () => {
    const clock = manualClock();
    const readyMacs = createReadyMacTracker(clock, 60_000);
    readyMacs.record(added(ready));
    clock.advance(30_000);
    readyMacs.record(added(macNode('b', { fleet: 'builders' })));
    assert.equal(readyMacs.stableForMs(runners), 30_000);
    assert.equal(readyMacs.stableForMs(builders), 0);
    clock.advance(40_000);
    readyMacs.record(changed(macNode('b', { fleet: 'builders' }), macNode('b', { fleet: 'runners' })));
    assert.equal(readyMacs.stableForMs(runners), 0, 'it has joined these');
    assert.equal(readyMacs.stableForMs(builders), 0, 'and left those');
  });
});
