import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decide, type Decision } from './decide.ts';
import type { Snapshot } from './snapshot.ts';
import { exampleProcess, exampleRecord, exampleSnapshot, exampleStates } from './testing/example.ts';

const running = { kind: 'running', process: exampleProcess } as const;
const stopped = { kind: 'stopped' } as const;

const table: readonly [string, Snapshot, Decision['kind']][] = [
  [
    'the VM is deleted at once, so that the slot is free',
    exampleSnapshot({ pod: { notFoundForMs: 0 }, record: exampleRecord(exampleStates.cloning), vm: stopped }),
    'delete VM',
  ],
  [
    'the record is deleted at once',
    exampleSnapshot({ pod: { notFoundForMs: 0 }, record: exampleRecord(exampleStates.configured) }),
    'forget',
  ],
  [
    'a Pod with an earlier run waits for the grace period',
    exampleSnapshot({
      pod: { notFoundForMs: 0 },
      record: exampleRecord(exampleStates.cloning, { run: 1 }),
      vm: stopped,
    }),
    'wait',
  ],
  [
    'a Pod whose VM runs waits for the grace period',
    exampleSnapshot({ pod: { notFoundForMs: 0 }, record: exampleRecord(exampleStates.configured), vm: running }),
    'wait',
  ],
];

describe('decide for a deleted Pod whose VM never started', () => {
  for (const [sentence, snapshot, kind] of table) test(sentence, () => assert.equal(decide(snapshot).kind, kind));
});
