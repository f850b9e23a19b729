import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decide } from './decide.ts';
import type { Decision } from './decision.ts';
import type { Snapshot } from './snapshot.ts';
import { exampleProcess, exampleRecord, exampleSnapshot, states } from './testing/example.ts';

const running = { kind: 'running', process: exampleProcess } as const;
const stopped = { kind: 'stopped' } as const;

const table: readonly [string, Snapshot, Decision['kind']][] = [
  [
    'a Pod that was deleted before its finalizer was there kept a slot for minutes',
    exampleSnapshot({ pod: { goneForMs: 0 }, record: exampleRecord(states.cloning), vm: stopped }),
    'delete VM',
  ],
  ['and a record', exampleSnapshot({ pod: { goneForMs: 0 }, record: exampleRecord(states.configured) }), 'forget'],
  [
    'one that has run before is not such a one',
    exampleSnapshot({ pod: { goneForMs: 0 }, record: exampleRecord(states.cloning, { run: 1 }), vm: stopped }),
    'wait',
  ],
  [
    'nor is one that is on after all',
    exampleSnapshot({ pod: { goneForMs: 0 }, record: exampleRecord(states.configured), vm: running }),
    'wait',
  ],
];

describe('a Pod that is gone and was never on', () => {
  for (const [sentence, snapshot, kind] of table) test(sentence, () => assert.equal(decide(snapshot).kind, kind));
});
