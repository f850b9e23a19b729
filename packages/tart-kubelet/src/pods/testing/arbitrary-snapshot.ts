import fc from 'fast-check';
import type { RunState } from '../../journal/journal.ts';
import type { Snapshot } from '../snapshot.ts';
import {
  exampleNow as now,
  examplePod,
  exampleProcess,
  exampleRecord,
  exampleStates,
  exampleTermination,
  neverStarted,
} from './example.ts';

const running = { kind: 'running', process: exampleProcess } as const;

const startTime = new Date(now - 60_000).toISOString();

const state = fc.constantFrom<RunState | 'unreadable' | undefined>(
  ...Object.values(exampleStates),
  { ...exampleStates.running, address: '192.168.64.2' },
  { kind: 'ended', ending: { ...exampleTermination, exitCode: 1, reason: 'Error' } },
  'unreadable',
  undefined,
);

const podThere = fc
  .record({
    deleting: fc.boolean(),
    finalizer: fc.boolean(),
    policy: fc.constantFrom('Always' as const, 'OnFailure' as const, 'Never' as const, undefined),
    phase: fc.constantFrom('Pending' as const, 'Running' as const, 'Succeeded' as const, 'Failed' as const, undefined),
    containers: fc.constantFrom(0, 1, 1, 1, 2),
    deadline: fc.constantFrom(undefined, undefined, 30, 90),
  })
  .map(({ deleting, finalizer, policy, phase, containers, deadline }) =>
    examplePod((pod) => {
      pod.status = { ...(phase !== undefined && { phase }), ...(deadline !== undefined && { startTime }) };
      if (deadline !== undefined && pod.spec) pod.spec.activeDeadlineSeconds = deadline;
      if (deleting) {
        pod.metadata.deletionTimestamp = '2026-06-01T12:00:10Z';
        pod.metadata.deletionGracePeriodSeconds = 30;
      }
      if (!finalizer) delete pod.metadata.finalizers;
      if (pod.spec === undefined) return;
      if (policy === undefined) delete pod.spec.restartPolicy;
      else pod.spec.restartPolicy = policy;
      pod.spec.containers = Array.from({ length: containers }, (_, index) => ({ name: `c${index}`, image: 'a/b:1' }));
    }),
  );

/** Every observable state of a Pod, including states that should never occur. */
export const arbitrarySnapshot: fc.Arbitrary<Snapshot> = fc
  .record({
    pod: fc.oneof(
      { weight: 1, arbitrary: fc.record({ notFoundForMs: fc.constantFrom(0, 1, 200_000) }) },
      { weight: 6, arbitrary: podThere },
    ),
    state,
    run: fc.nat({ max: 2000 }),
    stopRequestedAt: fc.constantFrom(undefined, now - 60_000, now - 1, now + 60_000),
    vm: fc.constantFrom<Snapshot['vm']>(
      { kind: 'unknown', message: '' },
      { kind: 'missing' },
      { kind: 'stopped' },
      running,
      { ...running, address: '192.168.64.3' },
    ),
    image: fc.constantFrom<Snapshot['image']>({ kind: 'missing' }, { kind: 'pulling' }, { kind: 'here' }),
    lastRun: fc.constantFrom<Snapshot['lastRun']>(
      neverStarted,
      { started: true, ending: { kind: 'halted' } },
      { started: true, ending: { kind: 'failed', reason: 'VM limit reached', message: 'full' } },
    ),
    usedByOthers: fc.nat({ max: 3 }),
    lastFailure: fc.constantFrom(undefined, { reason: 'TartCreateFailed', message: '', retryAt: now + 1 }),
    statusRefused: fc.boolean(),
  })
  .map(({ state: kind, run, stopRequestedAt, usedByOthers, ...rest }) => ({
    ...rest,
    now,
    slots: { total: 2, usedByOthers },
    record:
      kind === undefined || kind === 'unreadable'
        ? kind
        : exampleRecord(kind, { run, ...(stopRequestedAt !== undefined && { stopRequestedAt }) }),
  }));
