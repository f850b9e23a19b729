import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isKubeError, KubeError } from '../errors/kube-error.ts';
import {
  healthyMs,
  initialState,
  nextState,
  type ReflectorEvent,
  type ReflectorState,
  retryDelayMs,
  type Watching,
} from './reflector-state.ts';

const at = (now: number, jitter = 0) => ({ now, jitter });
const failure = new KubeError('unreachable', 'The connection broke.');
const expired = new KubeError('expired', 'too old resource version', { code: 410 });

const watching: Watching = {
  kind: 'watching',
  version: '10',
  since: 0,
  receivedAny: true,
  failures: 0,
  error: undefined,
};
const states: Record<ReflectorState['kind'], ReflectorState> = {
  listing: { kind: 'listing', failures: 0, error: undefined },
  watching,
  backingOff: { kind: 'backingOff', delayMs: 5, version: '10', failures: 1, error: failure },
  stopped: { kind: 'stopped', failures: 0, error: undefined },
};
const events: Record<ReflectorEvent['type'], ReflectorEvent> = {
  listed: { type: 'listed', version: '11' },
  received: { type: 'received', version: '11' },
  ended: { type: 'ended' },
  inactive: { type: 'inactive' },
  failed: { type: 'failed', error: failure },
  backedOff: { type: 'backedOff' },
  stopped: { type: 'stopped' },
};

/** `stay`: the identical state. */
const table: Record<ReflectorState['kind'], Record<ReflectorEvent['type'], ReflectorState['kind'] | 'stay'>> = {
  listing: {
    listed: 'watching',
    received: 'stay',
    ended: 'stay',
    inactive: 'stay',
    failed: 'backingOff',
    backedOff: 'stay',
    stopped: 'stopped',
  },
  watching: {
    listed: 'stay',
    received: 'watching',
    ended: 'watching',
    inactive: 'watching',
    failed: 'backingOff',
    backedOff: 'stay',
    stopped: 'stopped',
  },
  backingOff: {
    listed: 'stay',
    received: 'stay',
    ended: 'stay',
    inactive: 'stay',
    failed: 'stay',
    backedOff: 'watching',
    stopped: 'stopped',
  },
  stopped: {
    listed: 'stay',
    received: 'stay',
    ended: 'stay',
    inactive: 'stay',
    failed: 'stay',
    backedOff: 'stay',
    stopped: 'stopped',
  },
};

for (const state of Object.values(states)) {
  for (const event of Object.values(events)) {
    const expected = table[state.kind][event.type];
    test(`${state.kind}, on ${event.type}: ${expected}`, () => {
      const next = nextState(state, event, at(60_000));
      if (expected === 'stay') assert.equal(next, state);
      else assert.equal(next.kind, expected);
    });
  }
}

test('begins with a list', () => assert.deepEqual(initialState, states.listing));

test('after a list, the watch starts at the version of the list, and the error is cleared', () => {
  const listing: ReflectorState = { kind: 'listing', failures: 3, error: failure };
  assert.deepEqual(nextState(listing, { type: 'listed', version: '42' }, at(7)), {
    kind: 'watching',
    version: '42',
    since: 7,
    receivedAny: false,
    failures: 3,
    error: undefined,
  });
});

test('events move the version forward, never back', () => {
  const versionAfter = (version: string): string | undefined => {
    const next = nextState(watching, { type: 'received', version }, at(1));
    return next.kind === 'watching' ? next.version : undefined;
  };
  assert.equal(versionAfter('11'), '11');
  assert.equal(versionAfter('9'), '10');
  assert.equal(versionAfter('10'), '10');
});

test('an event proves that the connection works: the error is cleared, and the count of failures stays', () => {
  const quiet: Watching = { ...watching, receivedAny: false, failures: 2, error: failure };
  assert.deepEqual(nextState(quiet, { type: 'received', version: '11' }, at(1)), {
    ...watching,
    version: '11',
    failures: 2,
  });
});

test('after a clean end, a new watch resumes from the last version', () => {
  assert.deepEqual(nextState(watching, { type: 'ended' }, at(290_000)), {
    ...watching,
    since: 290_000,
    receivedAny: false,
  });
});

test('a watch that the server ends at once counts as failed', () => {
  const begun: Watching = { ...watching, since: 500 };
  const next = nextState(begun, { type: 'ended' }, at(1499));
  assert.equal(next.kind, 'backingOff');
  assert.equal(next.failures, 1);
  assert.ok(isKubeError(next.error, 'unreachable'));
  assert.match(next.error.message, /ended the watch as soon as it had begun/);
  assert.equal(nextState(begun, { type: 'ended' }, at(1500)).kind, 'watching');
});

test('an inactive watch resumes from the last version, or lists again if it never received anything', () => {
  assert.equal(nextState(watching, { type: 'inactive' }, at(240_000)).kind, 'watching');
  const quiet: Watching = { ...watching, receivedAny: false, failures: 2, error: failure };
  assert.deepEqual(nextState(quiet, { type: 'inactive' }, at(healthyMs - 1)), {
    kind: 'listing',
    failures: 2,
    error: failure,
  });
  assert.equal(nextState(quiet, { type: 'inactive' }, at(healthyMs)).failures, 0);
});

test('consecutive failures back off, and resume from the last version', () => {
  const delays: number[] = [];
  let state: ReflectorState = watching;
  for (let time = 0; time < 8; time++) {
    state = nextState(state, { type: 'failed', error: failure }, at(0));
    assert.ok(state.kind === 'backingOff' && state.version === '10');
    delays.push(state.delayMs);
    state = nextState(state, { type: 'backedOff' }, at(0));
  }
  assert.deepEqual(delays, [400, 800, 1600, 3200, 6400, 12_800, 15_000, 15_000]);
});

test('a failure after a healthy period is the first in a row again', () => {
  const tired: ReflectorState = { ...watching, failures: 6 };
  assert.equal(nextState(tired, { type: 'failed', error: failure }, at(healthyMs - 1)).failures, 7);
  assert.equal(nextState(tired, { type: 'failed', error: failure }, at(healthyMs)).failures, 1);
  assert.equal(nextState(tired, { type: 'ended' }, at(healthyMs)).failures, 0);
});

test('Retry-After is a lower bound of the back-off', () => {
  const delay = (retryAfterMs: number): number | undefined => {
    const error = new KubeError('tooManyRequests', 'slow down', { code: 429, retryAfterMs });
    const next = nextState(watching, { type: 'failed', error }, at(0));
    return next.kind === 'backingOff' ? next.delayMs : undefined;
  };
  assert.equal(delay(45_000), 45_000);
  assert.equal(delay(1), 400);
});

test('an expired version leads to a list, after a back-off', () => {
  for (const failures of [0, 1]) {
    const next = nextState({ ...watching, failures }, { type: 'failed', error: expired }, at(0));
    assert.deepEqual(next, {
      kind: 'backingOff',
      delayMs: [800, 1600][failures],
      version: undefined,
      failures: failures + 1,
      error: expired,
    });
    assert.equal(nextState(next, { type: 'backedOff' }, at(0)).kind, 'listing');
  }
});

/** A server ends its watches when it stops; the one that starts in its place keeps no old versions, or is a restored one. */
const cuts: readonly [what: string, event: ReflectorEvent, watch: Partial<Watching>, next: 'resume' | 'list'][] = [
  ['the connection breaks', { type: 'failed', error: failure }, {}, 'resume'],
  ['the server ends the watch at once', { type: 'ended' }, { since: 240_000 }, 'resume'],
  ['the version has expired', { type: 'failed', error: expired }, {}, 'list'],
  ['the version has expired again', { type: 'failed', error: expired }, { since: 240_000, failures: 1 }, 'list'],
];
for (const [what, event, watch, next] of cuts)
  test(`100 watches go on at 100 moments when ${what}`, () => {
    const delays = Array.from({ length: 100 }, (_, index) => {
      const state = nextState({ ...watching, ...watch }, event, at(240_000, index / 100));
      assert.ok(state.kind === 'backingOff');
      const after = nextState(state, { type: 'backedOff' }, at(240_000));
      assert.equal(after.kind, next === 'resume' ? 'watching' : 'listing');
      return Math.round(state.delayMs);
    });
    const first = { resume: 400, list: 800 }[next] * 2 ** (watch.failures ?? 0);
    assert.deepEqual(
      delays,
      Array.from({ length: 100 }, (_, index) => Math.round(first * (1 + index / 100))),
    );
  });

test('from a watch, only inactivity leads to a list without a back-off', () => {
  for (const receivedAny of [true, false])
    for (const failures of [0, 3])
      for (const error of [failure, expired])
        for (const event of [...Object.values(events), { type: 'failed', error } as const])
          assert.equal(
            nextState({ ...watching, receivedAny, failures }, event, at(60_000)).kind === 'listing',
            event.type === 'inactive' && !receivedAny,
          );
});

test('a version that the server has not reached leads to a list as well: its storage may have been restored', () => {
  const error = new KubeError('timeout', 'Too large resource version', {
    code: 504,
    causes: [{ reason: 'ResourceVersionTooLarge' }],
  });
  const next = nextState(watching, { type: 'failed', error }, at(0));
  assert.ok(next.kind === 'backingOff' && next.version === undefined);
  for (const causes of [[], [{ reason: 'Timeout' }]]) {
    const plain = new KubeError('timeout', 'no answer', { causes });
    const next = nextState(watching, { type: 'failed', error: plain }, at(0));
    assert.ok(next.kind === 'backingOff' && next.version === '10');
  }
});

test('a list that fails is tried again after a wait', () => {
  const next = nextState(states.listing, { type: 'failed', error: failure }, at(0));
  assert.ok(next.kind === 'backingOff' && next.version === undefined);
  assert.equal(nextState(next, { type: 'backedOff' }, at(0)).kind, 'listing');
});

test('the back-off doubles from the first failure up to its maximum', () => {
  const waits = [1, 2, 3, 4, 5, 6, 7, 8].map((failures) => [
    retryDelayMs('resume', failures, 1),
    retryDelayMs('list', failures, 1),
  ]);
  assert.deepEqual(waits, [
    [800, 1600],
    [1600, 3200],
    [3200, 6400],
    [6400, 12_800],
    [12_800, 25_600],
    [25_600, 30_000],
    [30_000, 30_000],
    [30_000, 30_000],
  ]);
});

test('for any number of failures and jitter, the back-off is between the initial step and the maximum', () => {
  fc.assert(
    fc.property(fc.nat(), fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (failures, jitter) => {
      const [resume, list] = [retryDelayMs('resume', failures, jitter), retryDelayMs('list', failures, jitter)];
      assert.ok(resume >= 400 && resume <= list && list >= 800 && list <= 30_000, `${resume}, ${list}`);
    }),
  );
});

test('jitter spreads a wait over its whole step', () => {
  assert.equal(retryDelayMs('list', 2, 0), 1600);
  assert.equal(retryDelayMs('list', 2, 0.5), 2400);
});
