import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { aggregateConditions, type Reported } from './aggregate.ts';

const reasons = { issue: 'Bad', unknown: 'Dunno', fine: 'Good' };
const of = (name: string, status: Reported['status'], message = ''): Reported => ({
  name,
  type: 'Ready',
  status,
  reason: 'Reason',
  message,
});

describe('a condition of several objects as one', () => {
  const table: [string, Reported[], string][] = [
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
  for (const [name, parts, told] of table)
    it(name, () => {
      const { status, reason, message } = aggregateConditions('Machine', parts, { type: 'Ready', reasons });
      assert.equal(`${status} ${reason} ${message}`, told);
    });
});
