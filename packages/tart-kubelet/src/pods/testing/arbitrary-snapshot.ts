import fc from 'fast-check';
import type { RunState } from '../../journal/record.ts';
import type { Snapshot } from '../snapshot.ts';
import {
  exampleEnding,
  exampleNow as now,
  examplePod,
  exampleProcess,
  exampleRecord,
  neverStarted,
  states,
} from './example.ts';

const running = { kind: 'running', process: exampleProcess } as const;

const startTime = new Date(now - 60_000).toISOString();

const state = fc.constantFrom<RunState | 'unreadable' | undefined>(
  ...Object.values(states),
  { ...states.running, address: '192.168.64.2' },
  { kind: 'ended', ending: { ...exampleEnding, exitCode: 1, reason: 'Error' } },
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

/** Everything that can be seen of a Pod, also what should never be. */
export const arbitrarySnapshot: fc.Arbitrary<Snapshot> = fc
  .record({
    pod: fc.oneof(
      { weight: 1, arbitrary: fc.record({ goneForMs: fc.constantFrom(0, 1, 200_000) }) },
      { weight: 6, arbitrary: podThere },
    ),
    state,
    run: fc.nat({ max: 2000 }),
    stopRequestedAt: fc.constantFrom(undefined, now - 60_000, now - 1, now + 60_000),
    vm: fc.constantFrom<Snapshot['vm']>(
      { kind: 'unknown', why: '' },
      { kind: 'missing' },
      { kind: 'stopped' },
      running,
      { ...running, address: '192.168.64.3' },
    ),
    image: fc.constantFrom<Snapshot['image']>({ kind: 'missing' }, { kind: 'pulling' }, { kind: 'here' }),
    remains: fc.constantFrom<Snapshot['remains']>(
      neverStarted,
      { started: true, ending: { kind: 'halted' } },
      { started: true, ending: { kind: 'failed', reason: 'VM limit reached', message: 'full' } },
    ),
    ofOthers: fc.nat({ max: 3 }),
    trouble: fc.constantFrom(undefined, { reason: 'TartCreateFailed', message: '', retryAt: now + 1 }),
    finalizerAsked: fc.boolean(),
    statusRefused: fc.boolean(),
  })
  .map(({ state: kind, run, stopRequestedAt, ofOthers, ...rest }) => ({
    ...rest,
    now,
    slots: { total: 2, ofOthers },
    record:
      kind === undefined || kind === 'unreadable'
        ? kind
        : exampleRecord(kind, { run, ...(stopRequestedAt !== undefined && { stopRequestedAt }) }),
  }));
