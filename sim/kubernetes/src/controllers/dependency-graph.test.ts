import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CollectionDecision, decideCollection, type OwnerState } from './dependency-graph.ts';

const owners = (...states: OwnerState[]) => states.map((state, index) => ({ uid: `u${index}`, state }));
const idle = { deletingDependents: false };
const waiting = { deletingDependents: true };

const table: [string, Parameters<typeof decideCollection>[0], CollectionDecision][] = [
  ['no owners: stays', { owners: [], finalizers: [], dependents: [] }, { kind: 'keep' }],
  ['a living owner: stays', { owners: owners('solid'), finalizers: [], dependents: [] }, { kind: 'keep' }],
  [
    'a living and a dead owner: the dead reference goes',
    { owners: owners('dangling', 'solid'), finalizers: [], dependents: [] },
    { kind: 'strip', uids: ['u0'] },
  ],
  [
    'a living owner and one that waits: the waiting one is let go',
    { owners: owners('solid', 'waiting', 'dangling'), finalizers: [], dependents: [] },
    { kind: 'strip', uids: ['u1', 'u2'] },
  ],
  [
    'only dead owners: deleted in the background',
    { owners: owners('dangling', 'dangling'), finalizers: [], dependents: [idle] },
    { kind: 'delete', policy: 'Background', unblock: false },
  ],
  [
    'its own orphan finalizer is honoured',
    { owners: owners('dangling'), finalizers: ['orphan'], dependents: [] },
    { kind: 'delete', policy: 'Orphan', unblock: false },
  ],
  [
    'its own foreground finalizer is honoured',
    { owners: owners('dangling'), finalizers: ['foregroundDeletion'], dependents: [] },
    { kind: 'delete', policy: 'Foreground', unblock: false },
  ],
  [
    'a waiting owner and no dependents: deleted in the background',
    { owners: owners('waiting'), finalizers: [], dependents: [] },
    { kind: 'delete', policy: 'Background', unblock: false },
  ],
  [
    'a waiting owner and dependents: deleted in the foreground too',
    { owners: owners('waiting', 'dangling'), finalizers: [], dependents: [idle] },
    { kind: 'delete', policy: 'Foreground', unblock: false },
  ],
  [
    'a waiting owner and a waiting dependent may be a cycle: its owners are unblocked',
    { owners: owners('waiting'), finalizers: [], dependents: [idle, waiting] },
    { kind: 'delete', policy: 'Foreground', unblock: true },
  ],
  [
    'an owner of a kind that is not served: later',
    { owners: owners('dangling', 'unknown'), finalizers: [], dependents: [] },
    { kind: 'postpone' },
  ],
  [
    'a cluster-scoped object with a namespaced owner: nothing helps',
    { owners: owners('misplaced', 'dangling'), finalizers: [], dependents: [] },
    { kind: 'keep' },
  ],
];

for (const [name, owned, verdict] of table) test(name, () => assert.deepEqual(decideCollection(owned), verdict));
