import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { leastUsefulFirst } from './order.ts';
import { ago, bare, cordonedMac, pending, stale, unbound, warm } from './testing/snapshots.ts';

describe('who goes first', () => {
  it('has no Mac, no machine, an old image, a Mac that drains, no runner, or is young; in this order', () => {
    const ordered = [
      unbound('no Mac'),
      pending('no machine, old image', { ...stale }),
      pending('no machine, drains', { node: cordonedMac }),
      bare('no machine, no runner'),
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
