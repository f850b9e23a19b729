import { describe, test } from 'node:test';
import { finalizers } from '@tartan/api';
import fc from 'fast-check';
import { decide } from './decide.ts';
import type { Decision } from './decision.ts';
import { deadlineOf } from './deadline.ts';
import { isTerminal, type Pod, type Snapshot } from './snapshot.ts';
import { arbitrarySnapshot } from './testing/arbitrary-snapshot.ts';
import { exampleNow } from './testing/example.ts';

const forAll = (check: (decision: Decision, snapshot: Snapshot) => boolean): void =>
  fc.assert(
    fc.property(arbitrarySnapshot, (snapshot) => check(decide(snapshot), snapshot)),
    { numRuns: 3000 },
  );
const isOverdue = (pod: Pod): boolean => (deadlineOf(pod) ?? Number.POSITIVE_INFINITY) <= exampleNow;
const stateOf = ({ record }: Snapshot): string | undefined => (typeof record === 'object' ? record.state.kind : record);

describe('the life of a Pod, whatever can be seen of it', () => {
  test('is decided for everything that can be seen', () => forAll(({ kind }) => typeof kind === 'string'));

  test('never boots what may have been on, has no finalizer, or has no slot', () =>
    forAll(
      (decision, { pod, remains, slots, vm, ...rest }) =>
        decision.kind !== 'boot' ||
        (vm.kind === 'stopped' &&
          'metadata' in pod &&
          pod.metadata.finalizers?.includes(finalizers.vmCleanup) === true &&
          pod.metadata.deletionTimestamp === undefined &&
          slots.ofOthers < slots.total &&
          typeof rest.record === 'object' &&
          (rest.record.state.kind === 'configured' || (rest.record.state.kind === 'starting' && !remains.started))),
    ));

  test('never deletes, clones or configures what is on or cannot be seen', () =>
    forAll(
      ({ kind }, { vm }) =>
        (kind !== 'delete VM' || vm.kind === 'stopped') &&
        (kind !== 'clone' || vm.kind === 'missing') &&
        (kind !== 'configure' || vm.kind === 'stopped'),
    ));

  test('never stops a VM of a Pod that lives, has not ended and has time left', () =>
    forAll(
      ({ kind }, snapshot) =>
        (kind !== 'stop hard' && kind !== 'stop gracefully') ||
        !('metadata' in snapshot.pod) ||
        snapshot.pod.metadata.deletionTimestamp !== undefined ||
        isTerminal(snapshot.pod) ||
        stateOf(snapshot) === 'ended' ||
        isOverdue(snapshot.pod),
    ));

  test('never starts, nor calls a success, what has no time left', () =>
    forAll(
      (decision, { pod, record }) =>
        !('metadata' in pod) ||
        pod.metadata.deletionTimestamp !== undefined ||
        isTerminal(pod) ||
        !isOverdue(pod) ||
        (!['pull', 'clone', 'configure', 'boot', 'restart'].includes(decision.kind) &&
          (decision.kind !== 'finish status' ||
            decision.ending.exitCode !== 0 ||
            (typeof record === 'object' && record.state.kind === 'ended'))),
    ));

  test('never lets go of the finalizer or the Pod while there is a VM', () =>
    forAll(
      ({ kind }, { vm }) => !['remove finalizer', 'delete Pod', 'forget'].includes(kind) || vm.kind === 'missing',
    ));
});
