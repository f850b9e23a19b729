import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { turnFor } from './testing/fixtures.ts';
import type { Machine } from '../controller-deps.ts';
import { findTurn, fleetNameOf, rollRecordFromStatus, rollRecordToStatus } from './turns.ts';

const fleet = (...turns: ReturnType<typeof turnFor>[]) => ({ status: { observedGeneration: 1, turns } });

describe('the turn of a machine', () => {
  const turn = turnFor('a');
  it('is valid for this machine and this hash', () => {
    assert.equal(findTurn(fleet(turnFor('b'), turn), 'uid-a', 'a-2'), turn);
    assert.equal(findTurn(fleet(turn), 'another of that name', 'a-2'), undefined);
    assert.equal(findTurn(fleet(turn), 'uid-a', 'a-3'), undefined);
    assert.equal(findTurn(fleet(turn), 'uid-a', undefined), undefined);
    assert.equal(findTurn({}, 'uid-a', 'a-2'), undefined);
    assert.equal(findTurn({ status: { observedGeneration: 1 } }, 'uid-a', 'a-2'), undefined);
  });

  it('to roll back is valid for any desired hash', () => {
    const back = turnFor('a', { rollBack: true });
    assert.equal(findTurn(fleet(back), 'uid-a', 'a-3'), back);
    assert.equal(findTurn(fleet(back), 'uid-b', 'a-2'), undefined);
  });
});

describe('the fleet of a machine', () => {
  it('is the one that it names, or one of its own', () => {
    const machine = (fleetName: string) => ({ metadata: { name: 'mac-1' }, spec: { fleetName } }) as Machine;
    assert.equal(fleetNameOf(machine('runners')), 'runners');
    assert.equal(fleetNameOf(machine('')), 'mac-1');
  });
});

describe('the roll record in the status', () => {
  const passedOver = [{ machine: 'b', uid: 'uid-b', at: '2026-01-01T00:00:00Z' }];
  const rollRecord = {
    revision: 'r2',
    provenRevision: 'r2',
    rollStartedAt: '2026-01-01T00:00:00Z',
    stalledRevision: 'r1',
    stop: { reason: 'PushRejected', machine: 'a', message: 'No.', at: '2026-01-01T00:00:00Z' },
    turns: [turnFor('a')],
    passedOver,
  } as const;

  it('is read as it was written', () => {
    assert.deepEqual(rollRecordToStatus(rollRecord), rollRecord);
    assert.deepEqual(rollRecordFromStatus({ observedGeneration: 1, ...rollRecord }), rollRecord);
  });

  it('is empty without a turn, and no empty list is written', () => {
    assert.deepEqual(rollRecordFromStatus(), { turns: [], passedOver: [] });
    assert.deepEqual(rollRecordToStatus({ turns: [], passedOver: [] }), {});
  });
});
