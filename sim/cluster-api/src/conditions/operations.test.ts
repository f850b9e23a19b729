import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  aggregateCondition,
  indentedBelow,
  type ObjectCondition,
  type SourceCondition,
  summaryCondition,
} from './operations.ts';

const reasons = { issue: 'Bad', unknown: 'Dunno', info: 'Good' };
const part = (
  type: string,
  status: SourceCondition['status'],
  message = '',
  more: Partial<SourceCondition> = {},
): SourceCondition => ({
  type,
  status,
  reason: `${type}Reason`,
  message,
  ...more,
});

describe('a summary of several conditions', () => {
  const table: [string, SourceCondition[], { negative?: string[]; targetIsNegative?: boolean }, string][] = [
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
    ['a weight wins', [part('A', 'False', '', { priority: 'info' })], {}, 'True Good '],
  ];
  for (const [name, parts, options, expected] of table)
    it(name, () => {
      const { status, reason, message } = summaryCondition(parts, { type: 'T', reasons, ...options });
      assert.equal(`${status} ${reason} ${message}`, expected);
    });

  it('is total, and is True only if nothing is wrong', () => {
    const any = fc.record({ type: fc.constantFrom('A', 'B'), status: fc.constantFrom('True', 'False', 'Unknown') });
    fc.assert(
      fc.property(fc.array(any), (all) => {
        const parts = all.map(({ type, status }) => part(type, status));
        const { status } = summaryCondition(parts, { type: 'T', reasons });
        assert.equal(
          status === 'True',
          all.every((each) => each.status === 'True'),
        );
      }),
    );
  });
});

const of = (name: string, status: ObjectCondition['status'], message = ''): ObjectCondition => ({
  name,
  type: 'Ready',
  status,
  reason: 'Reason',
  message,
});

describe('an aggregate of the same condition of several objects', () => {
  const table: [string, ObjectCondition[], string][] = [
    ['all fine', [of('a', 'True'), of('b', 'True')], 'True Good '],
    ['one is not', [of('a', 'True'), of('b', 'False', 'x')], 'False Bad * Machine b: x'],
    [
      'who says the same says it together, by name',
      [of('b', 'False', '* x'), of('a', 'False', '* x')],
      'False Bad * Machines a, b:\n  * x',
    ],
    [
      'the worst comes first, then what most say, then by name',
      [of('c', 'False', 'z'), of('d', 'False', 'z'), of('a', 'Unknown', 'u'), of('b', 'False', 'y')],
      'False Bad * Machines c, d: z\n* Machine b: y\n* Machine a: u',
    ],
    [
      'three names are enough',
      ['a', 'b', 'c', 'd', 'e'].map((name) => of(name, 'False', 'x')),
      'False Bad * Machines a, b, c, ... (2 more): x',
    ],
    [
      'three messages are enough',
      [...['a', 'b', 'c', 'd', 'e'].map((name) => of(name, 'False', name)), of('f', 'Unknown', 'f')],
      'False Bad * Machine a: a\n* Machine b: b\n* Machine c: c\n' +
        'And 2 Machines with other issues\nAnd 1 Machine with status unknown',
    ],
  ];
  for (const [name, parts, expected] of table)
    it(name, () => {
      const { status, reason, message } = aggregateCondition('Machine', parts, { type: 'Ready', reasons });
      assert.equal(`${status} ${reason} ${message}`, expected);
    });
});

describe('indentation below a heading', () => {
  const table: [string, string, string][] = [
    ['a line stands beside it', 'broken', ' broken'],
    ['a point of a list stands below it', '* A: broken', '\n  * A: broken'],
    ['so do several', '* A: x\n* B: y', '\n  * A: x\n  * B: y'],
    ['lines become points', 'a\nb', '\n  * a\n  * b'],
    ['points become points of the lines', 'a\n* b', '\n  * a\n    * b'],
  ];
  for (const [name, text, expected] of table) it(name, () => assert.equal(indentedBelow(text), expected));
});
