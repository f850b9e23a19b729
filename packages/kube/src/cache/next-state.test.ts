import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KubeError } from '../errors/kube-error.ts';
import { type Backoff, defaultBackoff } from './backoff.ts';
import { nextState } from './next-state.ts';
import type { Watching, WatchOccurrence, WatchState } from './watch-state.ts';

const backoff: Backoff = defaultBackoff;
const at = (now: number, jitter = 0) => ({ now, jitter, backoff });
const failure = new KubeError('unreachable', 'The connection broke.');
const expired = new KubeError('expired', 'too old resource version', { code: 410 });

const watching: Watching = {
  kind: 'watching',
  version: '10',
  since: 0,
  heard: true,
  failures: 0,
  error: undefined,
};
const states: Record<WatchState['kind'], WatchState> = {
  listing: { kind: 'listing', failures: 0, error: undefined },
  watching,
  waiting: { kind: 'waiting', delayMs: 5, version: '10', failures: 1, error: failure },
  stopped: { kind: 'stopped', failures: 0, error: undefined },
};
const occurrences: Record<WatchOccurrence['type'], WatchOccurrence> = {
  listed: { type: 'listed', version: '11' },
  heard: { type: 'heard', version: '11' },
  ended: { type: 'ended' },
  silent: { type: 'silent' },
  failed: { type: 'failed', error: failure },
  waited: { type: 'waited' },
  stopped: { type: 'stopped' },
};

/** `stay`: the very same state. */
const table: Record<WatchState['kind'], Record<WatchOccurrence['type'], WatchState['kind'] | 'stay'>> = {
  listing: {
    listed: 'watching',
    heard: 'stay',
    ended: 'stay',
    silent: 'stay',
    failed: 'waiting',
    waited: 'stay',
    stopped: 'stopped',
  },
  watching: {
    listed: 'stay',
    heard: 'watching',
    ended: 'watching',
    silent: 'watching',
    failed: 'waiting',
    waited: 'stay',
    stopped: 'stopped',
  },
  waiting: {
    listed: 'stay',
    heard: 'stay',
    ended: 'stay',
    silent: 'stay',
    failed: 'stay',
    waited: 'watching',
    stopped: 'stopped',
  },
  stopped: {
    listed: 'stay',
    heard: 'stay',
    ended: 'stay',
    silent: 'stay',
    failed: 'stay',
    waited: 'stay',
    stopped: 'stopped',
  },
};

for (const state of Object.values(states)) {
  for (const occurrence of Object.values(occurrences)) {
    const expected = table[state.kind][occurrence.type];
    test(`${state.kind}, on ${occurrence.type}: ${expected}`, () => {
      const next = nextState(state, occurrence, at(60_000));
      if (expected === 'stay') assert.equal(next, state);
      else assert.equal(next.kind, expected);
    });
  }
}

test('a list that is in is watched from its version, and clears the error', () => {
  const listing: WatchState = { kind: 'listing', failures: 3, error: failure };
  assert.deepEqual(nextState(listing, { type: 'listed', version: '42' }, at(7)), {
    kind: 'watching',
    version: '42',
    since: 7,
    heard: false,
    failures: 3,
    error: undefined,
  });
});

test('what is heard moves the version forward, never back', () => {
  const versionAfter = (version: string): string | undefined => {
    const next = nextState(watching, { type: 'heard', version }, at(1));
    return next.kind === 'watching' ? next.version : undefined;
  };
  assert.equal(versionAfter('11'), '11');
  assert.equal(versionAfter('9'), '10');
  assert.equal(versionAfter('10'), '10');
});

test('after a clean end the watch goes on from the last version, as a new connection', () => {
  assert.deepEqual(nextState(watching, { type: 'ended' }, at(290_000)), {
    ...watching,
    since: 290_000,
    heard: false,
  });
});

test('a watch that the server ends as soon as it began counts as failed', () => {
  const next = nextState(watching, { type: 'ended' }, at(999));
  assert.equal(next.kind, 'waiting');
  assert.equal(next.failures, 1);
});

test('a silent watch goes on from the last version, unless it never gave anything: then only a list can tell why', () => {
  assert.equal(nextState(watching, { type: 'silent' }, at(240_000)).kind, 'watching');
  assert.equal(nextState({ ...watching, heard: false }, { type: 'silent' }, at(240_000)).kind, 'listing');
});

test('failures in a row wait longer and longer, and go on from the last version', () => {
  const delays: number[] = [];
  let state: WatchState = watching;
  for (let time = 0; time < 8; time++) {
    state = nextState(state, { type: 'failed', error: failure }, at(0));
    assert.ok(state.kind === 'waiting' && state.version === '10');
    delays.push(state.delayMs);
    state = nextState(state, { type: 'waited' }, at(0));
  }
  assert.deepEqual(delays, [400, 800, 1600, 3200, 6400, 12_800, 15_000, 15_000]);
});

test('a failure after a healthy period is the first in a row again', () => {
  const tired: WatchState = { ...watching, failures: 6 };
  assert.equal(nextState(tired, { type: 'failed', error: failure }, at(backoff.healthyMs - 1)).failures, 7);
  assert.equal(nextState(tired, { type: 'failed', error: failure }, at(backoff.healthyMs)).failures, 1);
  assert.equal(nextState(tired, { type: 'ended' }, at(backoff.healthyMs)).failures, 0);
});

test('the delay that a server asks for is waited at least', () => {
  const delay = (retryAfterMs: number): number | undefined => {
    const error = new KubeError('tooManyRequests', 'slow down', { code: 429, retryAfterMs });
    const next = nextState(watching, { type: 'failed', error }, at(0));
    return next.kind === 'waiting' ? next.delayMs : undefined;
  };
  assert.equal(delay(45_000), 45_000);
  assert.equal(delay(1), 400);
});

test('a forgotten version leads to a list at once, and with a wait when it happens again', () => {
  const first = nextState(watching, { type: 'failed', error: expired }, at(0));
  assert.deepEqual(first, { kind: 'listing', failures: 1, error: expired });
  const again = nextState({ ...watching, failures: 1 }, { type: 'failed', error: expired }, at(0));
  assert.ok(again.kind === 'waiting' && again.version === undefined);
  assert.equal(nextState(again, { type: 'waited' }, at(0)).kind, 'listing');
});

test('a version that the server has not reached leads to a list as well: its storage may have been restored', () => {
  const error = new KubeError('timeout', 'Too large resource version', {
    code: 504,
    causes: [{ reason: 'ResourceVersionTooLarge' }],
  });
  assert.equal(nextState(watching, { type: 'failed', error }, at(0)).kind, 'listing');
  const plain = nextState(watching, { type: 'failed', error: new KubeError('timeout', 'no answer') }, at(0));
  assert.ok(plain.kind === 'waiting' && plain.version === '10');
});

test('a list that fails is tried again after a wait', () => {
  const next = nextState(states.listing, { type: 'failed', error: failure }, at(0));
  assert.ok(next.kind === 'waiting' && next.version === undefined);
  assert.equal(nextState(next, { type: 'waited' }, at(0)).kind, 'listing');
});
