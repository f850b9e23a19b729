import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { leastUsefulFirst } from './scale-down.ts';
import { ago, cordonedMac, pending, stale, unregistered, unscheduled, warm } from './testing/snapshots.ts';

describe('scale-down order', () => {
  it('unscheduled, no VM, stale image, draining Node, no runner, youngest; in this order', () => {
    const ordered = [
      unscheduled('no Mac'),
      pending('no machine, old image', { ...stale }),
      pending('no machine, drains', { node: cordonedMac }),
      unregistered('no machine, no runner'),
      pending('no machine'),
      warm('old image', { ...stale }),
      warm('drains', { node: cordonedMac }),
      warm('young', { createdAt: ago(1) }),
      warm('twin 1'),
      warm('twin 2'),
      warm('old', { createdAt: ago(999) }),
    ];
    const shuffled = [...ordered].reverse();
    shuffled.push(...shuffled.splice(0, 4));
    assert.deepEqual(
      shuffled.sort(leastUsefulFirst).map(({ uid }) => uid),
      ordered.map(({ uid }) => uid),
    );
  });
});
