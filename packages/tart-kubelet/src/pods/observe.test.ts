import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { VmRecord } from '../journal/journal.ts';
import { slotsUsedByOthers } from './observe.ts';
import { exampleRecord, exampleStates } from './testing/example.ts';

describe('slots', () => {
  const other = (uid: string, createdAt: number, state: VmRecord['state'] = exampleStates.cloning): VmRecord =>
    exampleRecord(state, { vm: `vm-${uid}`, pod: { uid, namespace: 'n', name: uid }, createdAt });
  const mine = { uid: 'm', vm: 'vm-m', createdAt: 50 };
  it('count every running VM once, without the Pod itself', () =>
    assert.equal(
      slotsUsedByOthers(mine, ['vm-m', 'foreign', 'vm-a'], [other('a', 1, exampleStates.running), other('m', 50)]),
      2,
    ));
  it('are reserved for older Pods', () =>
    assert.equal(slotsUsedByOthers(mine, [], [other('a', 49), other('b', 51), other('c', 1, exampleStates.ended)]), 1));
  it('go to one of two Pods of the same age', () => {
    const both = [other('a', 50), other('m', 50)];
    assert.equal(slotsUsedByOthers(mine, [], both), 1);
    assert.equal(slotsUsedByOthers({ uid: 'a', vm: 'vm-a', createdAt: 50 }, [], both), 0);
  });
});
