import assert from 'node:assert/strict';
import { test } from 'node:test';
import { happeningOf } from './status.ts';

test('an event says what was done, why, and what becomes of the VM', () => {
  const { type, reason, message } = happeningOf('nodeGone', 'mac-1', 300_000);
  assert.equal(type, 'Warning');
  assert.equal(reason, 'FinalizerRemoved');
  assert.match(message, /^Removed the finalizer tart-kubelet\.tuist\.dev\/vm-cleanup: the Node mac-1 .* 300 s.* VM /);
});

test('an event of a Pod that never had a Node says that there is no VM', () => {
  assert.match(happeningOf('neverBound', undefined, 300_000).message, /never had a Node, so there is no VM/);
});
