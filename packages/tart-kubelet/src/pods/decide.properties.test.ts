import { describe, test } from 'node:test';
import { finalizers } from '@tartan/api';
import fc from 'fast-check';
import { decide, type Decision } from './decide.ts';
import { isTerminal, type Pod, type Snapshot } from './snapshot.ts';
import { deadlineOf } from './termination.ts';
import { arbitrarySnapshot } from './testing/arbitrary-snapshot.ts';
import { exampleNow } from './testing/example.ts';

const forAll = (check: (decision: Decision, snapshot: Snapshot) => boolean): void =>
  fc.assert(
    fc.property(arbitrarySnapshot, (snapshot) => check(decide(snapshot), snapshot)),
    { numRuns: 3000 },
  );
const isOverdue = (pod: Pod): boolean => (deadlineOf(pod) ?? Number.POSITIVE_INFINITY) <= exampleNow;
const stateOf = ({ record }: Snapshot): string | undefined => (typeof record === 'object' ? record.state.kind : record);

describe('decide, for every possible snapshot', () => {
  test('is total', () => forAll(({ kind }) => typeof kind === 'string'));

  test('never boots a VM that may have run, has no finalizer or has no slot', () =>
    forAll(
      (decision, { pod, lastRun, slots, vm, ...rest }) =>
        decision.kind !== 'boot' ||
        (vm.kind === 'stopped' &&
          'metadata' in pod &&
          pod.metadata.finalizers?.includes(finalizers.vmCleanup) === true &&
          pod.metadata.deletionTimestamp === undefined &&
          slots.usedByOthers < slots.total &&
          typeof rest.record === 'object' &&
          (rest.record.state.kind === 'configured' || (rest.record.state.kind === 'starting' && !lastRun.started))),
    ));

  test('never deletes, clones or configures a VM that runs or whose state is unknown', () =>
    forAll(
      ({ kind }, { vm }) =>
        (kind !== 'delete VM' || vm.kind === 'stopped') &&
        (kind !== 'clone' || vm.kind === 'missing') &&
        (kind !== 'configure' || vm.kind === 'stopped'),
    ));

  test('never stops the VM of a Pod that is active and within its deadline', () =>
    forAll(
      ({ kind }, snapshot) =>
        (kind !== 'force stop' && kind !== 'stop gracefully') ||
        !('metadata' in snapshot.pod) ||
        snapshot.pod.metadata.deletionTimestamp !== undefined ||
        isTerminal(snapshot.pod) ||
        stateOf(snapshot) === 'ended' ||
        isOverdue(snapshot.pod),
    ));

  test('never starts a Pod past its deadline, and never reports success for it', () =>
    forAll(
      (decision, { pod, record }) =>
        !('metadata' in pod) ||
        pod.metadata.deletionTimestamp !== undefined ||
        isTerminal(pod) ||
        !isOverdue(pod) ||
        (!['pull', 'clone', 'configure', 'boot', 'restart'].includes(decision.kind) &&
          (decision.kind !== 'write final status' ||
            decision.ending.exitCode !== 0 ||
            (typeof record === 'object' && record.state.kind === 'ended'))),
    ));

  test('never removes the finalizer or the Pod while its VM exists', () =>
    forAll(
      ({ kind }, { vm }) =>
        !['remove finalizer', 'delete Pod', 'delete record'].includes(kind) || vm.kind === 'missing',
    ));
});
