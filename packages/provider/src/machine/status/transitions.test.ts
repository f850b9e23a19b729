import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { MachineStatus } from '@tartan/api';
import { forgetHost } from './transitions.ts';

describe('a machine that is detached from its Mac', () => {
  it('keeps no status of that Mac', () => {
    const time = '2026-01-01T00:00:00Z';
    const status: Required<MachineStatus> = {
      ready: true,
      initialization: {},
      phase: 'Bootstrapping',
      serverID: 's',
      serverVersion: '1',
      waitingForHostSince: time,
      addresses: [],
      conditions: [],
      observedGeneration: 1,
      lastAttempt: { task: 'Bootstrap', outcome: 'Rejected', message: '', at: time, count: 1 },
      bootstrapAttempts: 1,
      bootstrapRebootIssued: true,
      lastBootstrapFailureTime: time,
      hostKeyEpoch: 1,
      hostKey: 'SHA256:a',
      joinTokenID: 't',
      joinTokenExpires: time,
      certificateExpires: time,
      joinVersion: 't',
      hostConfigHash: 'a',
      desiredHostConfigHash: 'a',
      plannedBy: 'r',
      failedHostConfigHash: 'a',
      leftOut: { desired: 'a', actual: 'b', message: '', at: time },
      tartKubeletUpdateAttempts: 1,
      lastUpdateFailureTime: time,
    };
    const left = forgetHost(status);
    assert.deepEqual(Object.keys(left).sort(), [
      'conditions',
      'initialization',
      'observedGeneration',
      'phase',
      'ready',
    ]);
    assert.equal(left.ready, false);
  });
});
