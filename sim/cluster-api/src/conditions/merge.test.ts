import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { mergeConditions, type Part } from './merge.ts';

const reasons = { issue: 'Bad', unknown: 'Dunno', fine: 'Good' };
const part = (type: string, status: Part['status'], message = '', more: Partial<Part> = {}): Part => ({
  type,
  status,
  reason: `${type}Reason`,
  message,
  ...more,
});

describe('several conditions as one', () => {
  const table: [string, Part[], { negative?: string[]; targetIsNegative?: boolean }, string][] = [
    ['all fine', [part('A', 'True'), part('B', 'True')], {}, 'True Good '],
    ['fine, with something to say', [part('A', 'True', 'slow')], {}, 'True Good * A: slow'],
    ['one is not', [part('A', 'True', 'slow'), part('B', 'False', 'broken')], {}, 'False Bad * B: broken'],
    ['one is unknown', [part('A', 'True'), part('B', 'Unknown')], {}, 'Unknown Dunno * B: BReason'],
    ['bad beats unknown', [part('A', 'Unknown', 'x'), part('B', 'False', 'y')], {}, 'False Bad * A: x\n* B: y'],
    ['True is bad news', [part('A', 'True', 'leaves')], { negative: ['A'] }, 'False Bad * A: leaves'],
    ['False is good news', [part('A', 'False')], { negative: ['A'] }, 'True Good '],
    ['the whole is bad news', [part('A', 'True', 'x')], { negative: ['A'], targetIsNegative: true }, 'True Bad * A: x'],
    ['none', [], { targetIsNegative: true }, 'False Good '],
    ['another name', [part('A', 'False', 'a', { label: 'Node.A' })], {}, 'False Bad * Node.A: a'],
    ['a list stands below', [part('A', 'False', '* a: b')], {}, 'False Bad * A:\n  * a: b'],
    ['a weight wins', [part('A', 'False', '', { weight: 'fine' })], {}, 'True Good '],
  ];
  for (const [name, parts, options, told] of table)
    it(name, () => {
      const { status, reason, message } = mergeConditions(parts, { type: 'T', reasons, ...options });
      assert.equal(`${status} ${reason} ${message}`, told);
    });

  it('has an answer to everything, and is True only if nothing is wrong', () => {
    const any = fc.record({ type: fc.constantFrom('A', 'B'), status: fc.constantFrom('True', 'False', 'Unknown') });
    fc.assert(
      fc.property(fc.array(any), (all) => {
        const parts = all.map(({ type, status }) => part(type, status));
        const { status } = mergeConditions(parts, { type: 'T', reasons });
        assert.equal(
          status === 'True',
          all.every((each) => each.status === 'True'),
        );
      }),
    );
  });
});
