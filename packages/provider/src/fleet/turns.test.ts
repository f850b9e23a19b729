import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { turnFor } from './testing/fixtures.ts';
import { findTurn } from './turns.ts';

const fleet = (...turns: ReturnType<typeof turnFor>[]) => ({ status: { observedGeneration: 1, turns } });

describe('the turn of a machine', () => {
  const turn = turnFor('a');
  it('is for this machine and this hash', () => {
    assert.equal(findTurn(fleet(turnFor('b'), turn), 'uid-a', 'a-2'), turn);
    assert.equal(findTurn(fleet(turn), 'another of that name', 'a-2'), undefined);
    assert.equal(findTurn(fleet(turn), 'uid-a', 'a-3'), undefined);
    assert.equal(findTurn(fleet(turn), 'uid-a', undefined), undefined);
    assert.equal(findTurn({}, 'uid-a', 'a-2'), undefined);
  });

  it('to roll back is good whatever the machine wants by now', () => {
    const back = turnFor('a', { rollBack: true });
    assert.equal(findTurn(fleet(back), 'uid-a', 'a-3'), back);
    assert.equal(findTurn(fleet(back), 'uid-b', 'a-2'), undefined);
  });
});
