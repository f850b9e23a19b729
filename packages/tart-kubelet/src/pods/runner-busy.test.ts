import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import { labels, parseRunnerVersion, runnerBusyCondition } from '@tartan/api';
import { manualClock } from '@tartan/kube/clock';
import { noRunnerMarkers, type RunnerMarkers } from '../guest/guest-status.ts';
import { createMarkerWatch, runnerBusyOf } from './runner-busy.ts';
import { statusOf } from './status.ts';
import {
  exampleNow,
  examplePod,
  exampleProcess,
  exampleRecord,
  exampleSnapshot,
  exampleStates,
} from './testing/example.ts';

const words = ['present', 'missing', 'unreadable'] as const;
const befores = [undefined, 'Unknown', 'False', 'True'];

/** The markers `runner-ready` and `job-started`, and the new condition after none or Unknown, False, and True. */
const table: readonly (readonly [
  RunnerMarkers['ready'],
  RunnerMarkers['jobStarted'],
  'on' | 'off',
  string,
  string,
  string,
])[] = [
  ['missing', 'missing', 'on', 'Unknown', 'Unknown', 'True'],
  ['missing', 'missing', 'off', 'Unknown', 'False', 'True'],
  ['missing', 'present', 'on', 'True', 'True', 'True'],
  ['missing', 'present', 'off', 'True', 'True', 'True'],
  ['missing', 'unreadable', 'on', 'Unknown', 'Unknown', 'True'],
  ['missing', 'unreadable', 'off', 'Unknown', 'Unknown', 'True'],
  ['present', 'missing', 'on', 'False', 'False', 'True'],
  ['present', 'missing', 'off', 'False', 'False', 'True'],
  ['present', 'present', 'on', 'True', 'True', 'True'],
  ['present', 'present', 'off', 'True', 'True', 'True'],
  ['present', 'unreadable', 'on', 'Unknown', 'Unknown', 'True'],
  ['present', 'unreadable', 'off', 'Unknown', 'Unknown', 'True'],
  ['unreadable', 'missing', 'on', 'Unknown', 'Unknown', 'True'],
  ['unreadable', 'missing', 'off', 'Unknown', 'Unknown', 'True'],
  ['unreadable', 'present', 'on', 'True', 'True', 'True'],
  ['unreadable', 'present', 'off', 'True', 'True', 'True'],
  ['unreadable', 'unreadable', 'on', 'Unknown', 'Unknown', 'True'],
  ['unreadable', 'unreadable', 'off', 'Unknown', 'Unknown', 'True'],
];

describe('runnerBusyOf', () => {
  test('gives the reason', () => {
    const reasons = (['present', 'missing'] as const).map(
      (ready) => runnerBusyOf(undefined, { ready, jobStarted: 'missing' }, true).reason,
    );
    assert.deepEqual(
      [runnerBusyOf('True', noRunnerMarkers, true).reason, ...reasons],
      ['JobStarted', 'WaitsForJob', 'NotReported'],
    );
  });
  test('the table covers every case once', () => {
    const cases = table.map(([ready, jobStarted, power]) => `${ready} ${jobStarted} ${power}`);
    assert.equal(new Set(cases).size, words.length ** 2 * 2);
    assert.equal(table.length, words.length ** 2 * 2);
  });
  for (const [ready, jobStarted, power, ...expected] of table)
    test(`ready is ${ready}, the job is ${jobStarted}, and the VM is ${power}`, () => {
      const [first, ...rest] = expected;
      const found = befores.map((before) => runnerBusyOf(before, { ready, jobStarted }, power === 'on').status);
      assert.deepEqual(found, [first, first, ...rest]);
    });
});

describe('the RunnerBusy condition', () => {
  const since = '2026-06-01T11:00:00Z';
  const busy = (before: string | undefined, markers: RunnerMarkers, label = 'true') => {
    const pod = examplePod((example) => {
      example.metadata.labels = { [labels.runner]: label };
      if (before === undefined || example.status === undefined) return;
      example.status.conditions = [{ type: runnerBusyCondition, status: before, lastTransitionTime: since }];
    });
    const vm = { kind: 'running', process: exampleProcess } as const;
    const snapshot = exampleSnapshot({ pod, vm, markers, record: exampleRecord(exampleStates.running) });
    const { conditions } = statusOf(snapshot, { kind: 'wait for address' }, undefined) ?? {};
    return conditions?.filter(({ type }) => type === runnerBusyCondition);
  };
  const ready: RunnerMarkers = { ready: 'present', jobStarted: 'missing' };
  const type = runnerBusyCondition;

  test('has lastTransitionTime', () => {
    const now = new Date(exampleNow).toISOString().replace('.000', '');
    assert.deepEqual(busy('Unknown', ready), [
      { type, status: 'False', reason: 'WaitsForJob', lastTransitionTime: now },
    ]);
    assert.deepEqual(busy('False', ready), [
      { type, status: 'False', reason: 'WaitsForJob', lastTransitionTime: since },
    ]);
    assert.deepEqual(busy('True', ready), [{ type, status: 'True', reason: 'JobStarted', lastTransitionTime: since }]);
  });

  test('contains the version of the runner', () => {
    const [condition] = busy('False', { ...ready, version: '2.335.0' }) ?? [];
    assert.equal(parseRunnerVersion(condition?.message ?? undefined), '2.335.0');
  });

  test('is absent from other Pods, whatever their guests write', () => {
    assert.deepEqual(busy(undefined, { ready: 'present', jobStarted: 'present' }, 'false'), []);
  });
});

const ready: RunnerMarkers = { ready: 'present', jobStarted: 'missing' };
const job: RunnerMarkers = { ready: 'present', jobStarted: 'present' };

describe('the marker watch', () => {
  const setUp = () => {
    const clock = manualClock();
    let changes = 0;
    const state = { now: noRunnerMarkers, reads: 0 };
    const watch = createMarkerWatch({
      read: async () => {
        state.reads += 1;
        return state.now;
      },
      changed: () => {
        changes += 1;
      },
      clock,
    });
    const pass = async (seconds: number): Promise<void> => {
      for (let second = 0; second < seconds; second += 1) {
        clock.advance(1000);
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    return { watch, changes: () => changes, state, pass };
  };

  it('polls every two seconds and notifies once per change', async () => {
    const { changes, watch, state, pass } = setUp();
    watch.watch('vm', noRunnerMarkers);
    await pass(10);
    assert.deepEqual([changes(), state.reads], [0, 5]);
    state.now = ready;
    await pass(2);
    assert.equal(changes(), 1);
    watch.watch('vm', ready);
    await pass(10);
    assert.equal(changes(), 1);
    state.now = job;
    await pass(2);
    assert.equal(changes(), 2);
    watch.stop();
  });

  it('notifies again when the caller has seen other markers', async () => {
    const { changes, watch, state, pass } = setUp();
    state.now = ready;
    watch.watch('vm', noRunnerMarkers);
    await pass(2);
    watch.watch('vm', noRunnerMarkers);
    await pass(2);
    assert.equal(changes(), 2);
    watch.stop();
  });

  it('stops polling when it is stopped', async () => {
    const { changes, watch, state, pass } = setUp();
    watch.watch('vm', noRunnerMarkers);
    await pass(2);
    watch.stop();
    state.now = ready;
    await pass(10);
    assert.deepEqual([changes(), state.reads], [0, 1]);
  });
});
