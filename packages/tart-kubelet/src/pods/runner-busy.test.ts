import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { labels, readRunnerVersion, runnerBusyCondition } from '@tartan/api';
import type { Markers } from '../guest/markers.ts';
import { runnerBusyOf } from './runner-busy.ts';
import { statusOf } from './status.ts';
import { examplePod, exampleNow, exampleProcess, exampleRecord, exampleSnapshot, states } from './testing/example.ts';

const words = ['there', 'missing', 'unreadable'] as const;
const befores = [undefined, 'Unknown', 'False', 'True'];

/** What the share shows of `runner-ready` and `job-started`, and what comes of it after nothing or Unknown, False, and True. */
const table: readonly (readonly [Markers['ready'], Markers['jobStarted'], 'on' | 'off', string, string, string])[] = [
  ['missing', 'missing', 'on', 'Unknown', 'Unknown', 'True'],
  ['missing', 'missing', 'off', 'Unknown', 'False', 'True'],
  ['missing', 'there', 'on', 'True', 'True', 'True'],
  ['missing', 'there', 'off', 'True', 'True', 'True'],
  ['missing', 'unreadable', 'on', 'Unknown', 'Unknown', 'True'],
  ['missing', 'unreadable', 'off', 'Unknown', 'Unknown', 'True'],
  ['there', 'missing', 'on', 'False', 'False', 'True'],
  ['there', 'missing', 'off', 'False', 'False', 'True'],
  ['there', 'there', 'on', 'True', 'True', 'True'],
  ['there', 'there', 'off', 'True', 'True', 'True'],
  ['there', 'unreadable', 'on', 'Unknown', 'Unknown', 'True'],
  ['there', 'unreadable', 'off', 'Unknown', 'Unknown', 'True'],
  ['unreadable', 'missing', 'on', 'Unknown', 'Unknown', 'True'],
  ['unreadable', 'missing', 'off', 'Unknown', 'Unknown', 'True'],
  ['unreadable', 'there', 'on', 'True', 'True', 'True'],
  ['unreadable', 'there', 'off', 'True', 'True', 'True'],
  ['unreadable', 'unreadable', 'on', 'Unknown', 'Unknown', 'True'],
  ['unreadable', 'unreadable', 'off', 'Unknown', 'Unknown', 'True'],
];

describe('whether a runner has a job', () => {
  test('is told by a table that has every case once', () => {
    const cases = table.map(([ready, jobStarted, power]) => `${ready} ${jobStarted} ${power}`);
    assert.equal(new Set(cases).size, words.length ** 2 * 2);
    assert.equal(table.length, words.length ** 2 * 2);
  });
  for (const [ready, jobStarted, power, ...expected] of table)
    test(`ready is ${ready}, a job is ${jobStarted}, and it is ${power}`, () => {
      const [first, ...rest] = expected;
      const found = befores.map((before) => runnerBusyOf(before, { ready, jobStarted }, power === 'on').status);
      assert.deepEqual(found, [first, first, ...rest]);
    });
});

describe('the condition of a runner Pod', () => {
  const since = '2026-06-01T11:00:00Z';
  const busy = (before: string | undefined, markers: Markers, label = 'true') => {
    const pod = examplePod((example) => {
      example.metadata.labels = { [labels.runner]: label };
      if (before === undefined || example.status === undefined) return;
      example.status.conditions = [{ type: runnerBusyCondition, status: before, lastTransitionTime: since }];
    });
    const vm = { kind: 'running', process: exampleProcess } as const;
    const snapshot = exampleSnapshot({ pod, vm, markers, record: exampleRecord(states.running) });
    const { conditions } = statusOf(snapshot, { kind: 'wait for address' }, undefined) ?? {};
    return conditions?.filter(({ type }) => type === runnerBusyCondition);
  };
  const ready: Markers = { ready: 'there', jobStarted: 'missing' };
  const type = runnerBusyCondition;

  test('has the time since when it says so', () => {
    const now = new Date(exampleNow).toISOString().replace('.000', '');
    assert.deepEqual(busy('Unknown', ready), [
      { type, status: 'False', reason: 'WaitsForJob', lastTransitionTime: now },
    ]);
    assert.deepEqual(busy('False', ready), [
      { type, status: 'False', reason: 'WaitsForJob', lastTransitionTime: since },
    ]);
    assert.deepEqual(busy('True', ready), [{ type, status: 'True', reason: 'JobStarted', lastTransitionTime: since }]);
  });

  test('tells the release of the runner', () => {
    const [condition] = busy('False', { ...ready, version: '2.335.0' }) ?? [];
    assert.equal(readRunnerVersion(condition?.message ?? undefined), '2.335.0');
  });

  test('is not there for other Pods, whatever their guests write', () => {
    assert.deepEqual(busy(undefined, { ready: 'there', jobStarted: 'there' }, 'false'), []);
  });
});
