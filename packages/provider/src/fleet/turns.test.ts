import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { turnFor } from './testing/fixtures.ts';
import type { Machine } from '../controller-deps.ts';
import { findTurn, fleetNameOf, memoryFromStatus, memoryToStatus } from './turns.ts';

const fleet = (...turns: ReturnType<typeof turnFor>[]) => ({ status: { observedGeneration: 1, turns } });

describe('the turn of a machine', () => {
  const turn = turnFor('a');
  it('is for this machine and this hash', () => {
    assert.equal(findTurn(fleet(turnFor('b'), turn), 'uid-a', 'a-2'), turn);
    assert.equal(findTurn(fleet(turn), 'another of that name', 'a-2'), undefined);
    assert.equal(findTurn(fleet(turn), 'uid-a', 'a-3'), undefined);
    assert.equal(findTurn(fleet(turn), 'uid-a', undefined), undefined);
    assert.equal(findTurn({}, 'uid-a', 'a-2'), undefined);
    assert.equal(findTurn({ status: { observedGeneration: 1 } }, 'uid-a', 'a-2'), undefined);
  });

  it('to roll back is good whatever the machine wants by now', () => {
    const back = turnFor('a', { rollBack: true });
    assert.equal(findTurn(fleet(back), 'uid-a', 'a-3'), back);
    assert.equal(findTurn(fleet(back), 'uid-b', 'a-2'), undefined);
  });
});

describe('the fleet of a machine', () => {
  it('is the one that it names, or else one of its own', () => {
    const machine = (fleetName: string) => ({ metadata: { name: 'mac-1' }, spec: { fleetName } }) as Machine;
    assert.equal(fleetNameOf(machine('runners')), 'runners');
    assert.equal(fleetNameOf(machine('')), 'mac-1');
  });
});

describe('what the status remembers of a roll', () => {
  const passedOver = [{ machine: 'b', uid: 'uid-b', at: '2026-01-01T00:00:00Z' }];
  const memory = {
    revision: 'r2',
    provenRevision: 'r2',
    rollStartedAt: '2026-01-01T00:00:00Z',
    stalledRevision: 'r1',
    stop: { reason: 'PushRejected', machine: 'a', message: 'No.', at: '2026-01-01T00:00:00Z' },
    turns: [turnFor('a')],
    passedOver,
  } as const;

  it('is read as it was written', () => {
    assert.deepEqual(memoryToStatus(memory), memory);
    assert.deepEqual(memoryFromStatus({ observedGeneration: 1, ...memory }), memory);
  });

  it('is nothing without a turn, and no empty list is written', () => {
    assert.deepEqual(memoryFromStatus(), { turns: [], passedOver: [] });
    assert.deepEqual(memoryToStatus({ turns: [], passedOver: [] }), {});
  });
});
