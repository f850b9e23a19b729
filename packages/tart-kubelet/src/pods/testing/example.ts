import { finalizers, macTaint } from '@tartan/api';
import type { Live } from '@tartan/kube';
import type { RunState, Termination, VmRecord } from '../../journal/journal.ts';
import type { LastRun, Pod, Snapshot } from '../snapshot.ts';

export const exampleNow = Date.parse('2026-06-01T12:00:00Z');
const exampleImage = 'ghcr.io/example/macos:26';

/** A runner Pod bound to this Node, with our finalizer. */
export const examplePod = (change: (pod: Live<Pod>) => void = () => {}): Live<Pod> => {
  const pod: Live<Pod> = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'runner-1',
      namespace: 'runners',
      uid: 'uid-1',
      resourceVersion: '7',
      creationTimestamp: '2026-06-01T11:59:00Z',
      finalizers: [finalizers.vmCleanup],
    },
    spec: {
      nodeName: 'mac-1',
      restartPolicy: 'Never',
      terminationGracePeriodSeconds: 30,
      tolerations: [{ key: macTaint.key, operator: 'Exists', effect: 'NoSchedule' }],
      containers: [{ name: 'runner', image: exampleImage }],
    },
    status: { phase: 'Pending' },
  };
  change(pod);
  return pod;
};

export const exampleProcess = { pid: 100, startedAt: exampleNow - 60_000 };

export const exampleTermination: Termination = {
  exitCode: 0,
  reason: 'Completed',
  startedAt: exampleNow - 60_000,
  finishedAt: exampleNow - 1000,
};

export const exampleStates = {
  cloning: { kind: 'cloning' },
  configured: { kind: 'configured' },
  starting: { kind: 'starting', at: exampleNow - 60_000 },
  running: { kind: 'running', process: exampleProcess, since: exampleNow - 60_000 },
  ended: { kind: 'ended', ending: exampleTermination },
} as const satisfies Record<string, RunState>;

export const exampleRecord = (state: RunState, more: Partial<VmRecord> = {}): VmRecord => ({
  version: 1,
  vm: 'runners-runner-1-uid-1',
  pod: { uid: 'uid-1', namespace: 'runners', name: 'runner-1' },
  image: { reference: exampleImage, digest: 'sha256:1' },
  createdAt: exampleNow - 90_000,
  run: 0,
  state,
  ...more,
});

export const neverStarted: LastRun = { started: false, ending: { kind: 'unknown' } };

/** A new Pod; its image is local and a slot is free. */
export const exampleSnapshot = (more: Partial<Snapshot> = {}): Snapshot => ({
  now: exampleNow,
  pod: examplePod(),
  record: undefined,
  vm: { kind: 'missing' },
  image: { kind: 'here', digest: 'sha256:1' },
  lastRun: neverStarted,
  slots: { total: 2, usedByOthers: 0 },
  ...more,
});
