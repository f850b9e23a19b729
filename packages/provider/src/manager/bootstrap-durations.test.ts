import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { machine, type MachineStatus, type ScalewayAppleSiliconMachine } from '@tartan/api';
import type { InformerEvent, Live } from '@tartan/kube';
import { manualClock } from '@tartan/kube/clock';
import { watchBootstrapDurations } from './provider-metrics.ts';

type Change = InformerEvent<ScalewayAppleSiliconMachine>;

const machineWith = (status: MachineStatus): Live<ScalewayAppleSiliconMachine> => ({
  apiVersion: 'infrastructure.cluster.x-k8s.io/v1alpha1',
  kind: 'ScalewayAppleSiliconMachine',
  metadata: {
    name: 'mac-1',
    namespace: 'n',
    uid: 'u',
    resourceVersion: '1',
    creationTimestamp: '2026-01-01T00:00:00Z',
  },
  spec: machine.spec.parse({}),
  status,
});

describe('the duration of a bootstrap', () => {
  test('is observed once, from the claim to a ready Mac', async () => {
    const clock = manualClock(Date.parse('2026-01-01T00:05:00Z'));
    const observed: number[] = [];
    let tell: (change: Change) => void = () => assert.fail('nobody listens');
    let listeners = 0;
    const machines = {
      subscribe: (listener: (change: Change) => void) => {
        tell = listener;
        listeners += 1;
        return () => {
          listeners -= 1;
        };
      },
    };
    const stopping = new AbortController();
    const running = watchBootstrapDurations(machines, clock, (seconds) => observed.push(seconds)).run(stopping.signal);
    const conditions = [
      {
        type: 'Provisioned',
        status: 'True' as const,
        reason: 'HostClaimed',
        message: '',
        lastTransitionTime: '2026-01-01T00:01:00Z',
      },
    ];
    const claimed = machineWith({ conditions });
    const done = machineWith({ conditions, initialization: { provisioned: true } });
    tell({ type: 'added', object: done });
    tell({ type: 'changed', previous: claimed, object: claimed });
    assert.deepEqual(observed, [], 'what was ready before we led was not measured');
    tell({ type: 'changed', previous: claimed, object: done });
    tell({ type: 'changed', previous: done, object: done });
    assert.deepEqual(observed, [240]);
    stopping.abort();
    await running;
    assert.equal(listeners, 0);
  });
});
