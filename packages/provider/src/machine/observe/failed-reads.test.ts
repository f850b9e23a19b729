import assert from 'node:assert/strict';
import { test } from 'node:test';
import { machine as machineKind } from '@tartan/api';
import { manualClock } from '@tartan/kube/clock';
import { createFailedReads } from './failed-reads.ts';

const machineWith = (generation: number, serverID: string) => ({
  ...machineKind.make({ metadata: { name: 'mac-1' }, spec: {} }),
  metadata: { name: 'mac-1', uid: 'u', resourceVersion: '1', creationTimestamp: '', generation },
  status: { serverID },
});
const first = machineWith(1, 'server-1');

test('reads that fail alike are counted for one server and one spec of the machine', () => {
  const clock = manualClock();
  const reads = createFailedReads(clock);
  assert.equal(reads.of(first), undefined);
  reads.record(first, 'CredentialsRefreshFailed');
  reads.record(first, 'CredentialsRefreshFailed');
  clock.advance(1000);
  assert.deepEqual(reads.of(first), { outcome: 'CredentialsRefreshFailed', inARow: 2, forMs: 1000 });
  assert.equal(reads.of(machineWith(2, 'server-1')), undefined);
  assert.equal(reads.of(machineWith(1, 'server-2')), undefined);
  reads.record(first, 'MissingSudoPassword');
  assert.deepEqual(reads.of(first), { outcome: 'MissingSudoPassword', inARow: 1, forMs: 0 });
  reads.forget('u');
  assert.equal(reads.of(first), undefined);
});
