import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ConditionDefinition } from './capi-conditions.ts';
import { buildCondition, conditionsByKind } from './conditions.ts';
import { events } from './events.ts';

const all = Object.entries(conditionsByKind).flatMap(([kind, conditions]) =>
  Object.entries(conditions as Record<string, ConditionDefinition>).map(([type, words]) => ({ kind, type, ...words })),
);

/** Words for people: a sentence, or more of them. */
const isSentence = (text: string): boolean => /^[A-Z`].*\.$/.test(text) || /^spec\..*\.$/.test(text);

describe('conditions', () => {
  test('have types and reasons in the syntax of Kubernetes, each with a description', () => {
    for (const { kind, type, means, reasons } of all) {
      assert.ok(isSentence(means), `${kind} ${type}: ${means}`);
      assert.match(type, /^[A-Z][A-Za-z]{1,99}$/);
      for (const [reason, [, meaning]] of Object.entries(reasons)) {
        assert.ok(isSentence(meaning), `${kind} ${type} ${reason}: ${meaning}`);
        assert.match(reason, /^[A-Z][A-Za-z0-9]{0,99}$/);
      }
    }
  });

  test('have at least one reason with status True', () => {
    for (const { kind, type, reasons } of all) {
      assert.ok(
        Object.values(reasons).some(([status]) => status === 'True'),
        `${kind} ${type}`,
      );
    }
  });

  test('take their status from their reason', () => {
    assert.deepEqual(
      buildCondition('ScalewayAppleSiliconMachine', 'Provisioned', 'NoAvailableHost', 'None of 3 is free.'),
      {
        type: 'Provisioned',
        status: 'False',
        reason: 'NoAvailableHost',
        message: 'None of 3 is free.',
      },
    );
    assert.equal(buildCondition('MacHost', 'Stranded', 'ReportOnly').status, 'True');
    assert.equal(buildCondition('MacFleet', 'Ready', 'UpToDate').message, 'The desired state is reached.');
  });

  test('cannot be built with a reason of another condition', () => {
    // @ts-expect-error: that is a reason of Provisioned.
    assert.equal(buildCondition('ScalewayAppleSiliconMachine', 'Bootstrapped', 'NoAvailableHost').status, 'Unknown');
  });
});

describe('events', () => {
  test('have a reason in CamelCase and a description', () => {
    for (const [reason, [, means]] of Object.entries(events)) {
      assert.match(reason, /^[A-Z][A-Za-z]+$/);
      assert.ok(isSentence(means), `${reason}: ${means}`);
    }
  });
});
