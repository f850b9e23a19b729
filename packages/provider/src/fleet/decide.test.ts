import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decide, type RollState, type Snapshot } from './decide.ts';
import {
  ago,
  fleetFacts,
  limits,
  machineFacts,
  minute,
  now,
  snapshotOf,
  turnFor,
  updated,
} from './testing/fixtures.ts';
import type { RollRecord } from './turns.ts';

const a = machineFacts('a');
const b = machineFacts('b');
const c = machineFacts('c');
const down = { ready: false, notReadySince: now - 60 * minute };
const proven = { provenRevision: 'r2', rollStartedAt: ago(5) };
const stop: NonNullable<RollRecord['stop']> = { reason: 'PushRejected', machine: 'a', message: 'No.', at: ago(10) };
const stalled = { stalledRevision: 'r2', stop };
const refusal = { failed: 'a-2', attempts: 5, lastFailure: now };
const passed = (machine: string, minutes: number) => ({ machine, uid: `uid-${machine}`, at: ago(minutes) });

/** Who has a turn afterwards: `!` the canary, `<` rolls back, `~` for an outdated hash. */
const sketch = (rollRecord: RollRecord, { machines }: Snapshot): string =>
  rollRecord.turns
    .map(({ machine, uid, hash, canary, rollBack }) => {
      const wanted = machines.find((facts) => facts.uid === uid)?.desired;
      return `${machine}${canary ? '!' : ''}${rollBack ? '<' : ''}${!rollBack && wanted !== hash ? '~' : ''}`;
    })
    .join(' ');

const table: [string, Snapshot, RollState, string][] = [
  ['nothing to roll', snapshotOf([updated('a'), updated('b')]), 'upToDate', ''],
  ['no machines', snapshotOf([]), 'upToDate', ''],
  ['something new', snapshotOf([a, b, c]), 'canary', 'a!'],
  ['machines without a desired hash', snapshotOf([machineFacts('a', { desired: undefined })]), 'upToDate', ''],
  ['a machine that says nothing', snapshotOf([machineFacts('a', { actual: undefined })]), 'canary', 'a!'],
  [
    'one without a Mac, one that goes',
    snapshotOf([
      { ...a, provisioned: false },
      { ...b, deleting: true },
    ]),
    'upToDate',
    '',
  ],
  ['a first machine that is down', snapshotOf([{ ...a, ...down }, b]), 'canary', 'b!'],
  ['only machines that are down', snapshotOf([{ ...a, ...down }]), 'waitingForMachines', ''],
  [
    'as many machines down as may be unavailable',
    snapshotOf([{ ...a, ...down }, b], {}, { maxUnavailable: 1 }),
    'maxUnavailableReached',
    '',
  ],
  [
    'a machine that is down and paused',
    snapshotOf([{ ...a, ...down, paused: true }, b], {}, { maxUnavailable: 1 }),
    'canary',
    'b!',
  ],
  [
    'a machine that was never available',
    snapshotOf([{ ...a, ...down, provisioned: false }, b], {}, { maxUnavailable: 1 }),
    'canary',
    'b!',
  ],
  [
    'a machine that is down and being deleted',
    snapshotOf([{ ...a, ...down, deleting: true }, b], {}, { maxUnavailable: 1 }),
    'canary',
    'b!',
  ],
  [
    'a wave with one machine down and room for one more',
    snapshotOf([updated('a', down), b, c], proven, { maxUnavailable: 2 }),
    'wave',
    'b',
  ],
  [
    'one that went down in its turn, beside as many as may be unavailable',
    snapshotOf([{ ...a, ...down }, b], { ...proven, passedOver: [passed('a', 20)] }, { maxUnavailable: 1 }),
    'wave',
    'a',
  ],
  ['a first machine that is paused', snapshotOf([{ ...a, paused: true }, b]), 'canary', 'b!'],
  ['a first machine that did not answer', snapshotOf([{ ...a, unreachableAt: now }, b]), 'canary', 'b!'],
  ['a first machine that failed once', snapshotOf([{ ...a, lastFailure: now - 60 * minute }, b]), 'canary', 'b!'],

  ['machines in another order', snapshotOf([b, a]), 'canary', 'a!'],
  [
    'one that refused and one that did not answer',
    snapshotOf([
      { ...a, failed: 'a-2', lastFailure: now - 60 * minute },
      { ...b, unreachableAt: now },
    ]),
    'canary',
    'b!',
  ],

  ['a canary under way', snapshotOf([a, b], { turns: [turnFor('a', { canary: true })] }), 'canary', 'a!'],
  [
    'a canary that is done',
    snapshotOf([updated('a'), b, c, machineFacts('d')], { turns: [turnFor('a', { canary: true })] }),
    'wave',
    'b c',
  ],
  [
    'a canary of an earlier revision that is done',
    snapshotOf([updated('a'), b, c], { turns: [turnFor('a', { canary: true, revision: 'r1' })] }),
    'canary',
    'b!',
  ],
  ['a Mac that had it before the roll', snapshotOf([updated('a'), b, c]), 'canary', 'b!'],
  ['a wave', snapshotOf([updated('a'), b, c, machineFacts('d')], { ...proven, turns: [turnFor('b')] }), 'wave', 'b c'],
  ['a wave that began with the last', snapshotOf([a, c], { ...proven, turns: [turnFor('c')] }), 'wave', 'a c'],
  ['a full wave', snapshotOf([a, b, c], { ...proven, turns: [turnFor('a'), turnFor('b')] }), 'wave', 'a b'],
  [
    'a wave that is too wide by now',
    snapshotOf([a, b, c], { ...proven, turns: [turnFor('a'), turnFor('b')] }, { maxUnavailable: 1 }),
    'wave',
    'a b',
  ],
  ['a wave that ends', snapshotOf([updated('a'), updated('b')], { ...proven, turns: [turnFor('b')] }), 'upToDate', ''],
  [
    'a push that failed',
    snapshotOf([{ ...a, attempts: 1, lastFailure: now }, b], { ...proven, turns: [turnFor('a')] }),
    'wave',
    'a',
  ],
  ['a machine that is gone', snapshotOf([b], { ...proven, turns: [turnFor('a')] }), 'wave', 'b'],
  [
    'a machine of the same name',
    snapshotOf([{ ...a, uid: 'other' }], { ...proven, turns: [turnFor('a')] }),
    'wave',
    'a',
  ],
  [
    'a machine that wants something else',
    snapshotOf([{ ...a, desired: 'a-3' }], { ...proven, turns: [turnFor('a')] }),
    'wave',
    'a',
  ],
  ['a proof of another revision', snapshotOf([a, b], { revision: 'r1', provenRevision: 'r1' }), 'canary', 'a!'],

  ['a pause', snapshotOf([a, b], proven, { paused: true }), 'paused', ''],
  ['a pause with nothing to do', snapshotOf([updated('a')], {}, { paused: true }), 'upToDate', ''],
  ['a pause in a turn', snapshotOf([a, b], { ...proven, turns: [turnFor('a')] }, { paused: true }), 'wave', 'a'],
  [
    'a pause after a turn',
    snapshotOf([updated('a'), b], { ...proven, turns: [turnFor('a')] }, { paused: true }),
    'paused',
    '',
  ],

  ['a refusal', snapshotOf([{ ...a, ...refusal }, b, c], { turns: [turnFor('a', { canary: true })] }), 'stalled', ''],
  [
    'a refusal in a wave',
    snapshotOf([{ ...a, ...refusal }, b, c], { ...proven, turns: [turnFor('a'), turnFor('b')] }),
    'stalled',
    'b',
  ],
  [
    'a refusal beside a success',
    snapshotOf([{ ...a, ...refusal }, updated('b'), c], { ...proven, turns: [turnFor('a'), turnFor('b')] }),
    'stalled',
    '',
  ],
  [
    'a Mac that is not back in time',
    snapshotOf([updated('a', down), b], { turns: [turnFor('a', { canary: true, grantedAt: ago(20) })] }),
    'stalled',
    'a<',
  ],
  [
    'one that never said that it has it',
    snapshotOf([{ ...a, ...down, pushed: 'a-2' }, b], { turns: [turnFor('a', { grantedAt: ago(20) })] }),
    'stalled',
    'a<',
  ],
  [
    'one that went down before it got it',
    snapshotOf([{ ...a, ...down }, b], { turns: [turnFor('a', { grantedAt: ago(20) })] }),
    'stalled',
    '',
  ],
  [
    'one that says that it has it, though no push is recorded',
    snapshotOf([{ ...a, ...down, actual: 'a-2' }, b], { turns: [turnFor('a', { grantedAt: ago(20) })] }),
    'stalled',
    'a<',
  ],
  [
    'a refusal by one that was down before',
    snapshotOf([{ ...a, ...refusal }, b], { ...proven, turns: [turnFor('a')], passedOver: [passed('a', 1)] }),
    'wave',
    'b',
  ],
  [
    'a refusal beside one that was down before',
    snapshotOf([{ ...a, ...refusal }, b], { ...proven, turns: [turnFor('a')], passedOver: [passed('b', 1)] }),
    'stalled',
    '',
  ],
  ['a stop', snapshotOf([a, b], stalled), 'stalled', ''],
  [
    'a stop with a roll back of one that came up after all',
    snapshotOf([updated('a')], { ...stalled, turns: [turnFor('a', { rollBack: true })] }),
    'stalled',
    'a<',
  ],
  [
    'a stop, and the one at fault is deleted',
    snapshotOf([{ ...a, deleting: true }, updated('b')], stalled),
    'upToDate',
    '',
  ],
  [
    'a stop with a roll back',
    snapshotOf([updated('a', down), b], { ...stalled, turns: [turnFor('a', { rollBack: true })] }),
    'stalled',
    'a<',
  ],
  ['a stop that is old enough', snapshotOf([a, b], { ...stalled, stop: { ...stop, at: ago(30) } }), 'canary', 'a!'],
  [
    'a stop that is for ever',
    {
      ...snapshotOf([a, b], { ...stalled, stop: { ...stop, at: ago(999) } }),
      limits: { ...limits, retryAfterMs: undefined },
    },
    'stalled',
    '',
  ],
  ['a stop of another revision', snapshotOf([a, b], { ...stalled, stalledRevision: 'r1' }), 'canary', 'a!'],
  ['a stop with nothing left to do', snapshotOf([updated('b')], stalled), 'upToDate', ''],
  ['a stop while the one at fault is down', snapshotOf([updated('a', down), updated('b')], stalled), 'stalled', ''],
  ['a refusal that is not forgiven', snapshotOf([{ ...a, ...refusal }]), 'waitingForMachines', ''],
  [
    'a refusal, and another machine',
    snapshotOf([{ ...a, failed: 'a-2', lastFailure: now - 60 * minute }, b]),
    'canary',
    'b!',
  ],

  [
    'one that did not answer in its turn',
    snapshotOf([{ ...a, unreachableAt: now }, b], { turns: [turnFor('a', { canary: true, grantedAt: ago(3) })] }),
    'canary',
    'b!',
  ],
  ['one that was passed over just now', snapshotOf([a], { passedOver: [passed('a', 9)] }), 'waitingForMachines', ''],
  ['one that was passed over long ago', snapshotOf([a], { passedOver: [passed('a', 10)] }), 'canary', 'a!'],
  ['two the other way round', snapshotOf([a, b], { passedOver: [passed('a', 12), passed('b', 11)] }), 'canary', 'a!'],
  ['two that were passed over', snapshotOf([a, b], { passedOver: [passed('a', 11), passed('b', 12)] }), 'canary', 'b!'],
  [
    'one that went down in its turn',
    snapshotOf([{ ...a, ...down }], { passedOver: [passed('a', 10)] }),
    'canary',
    'a!',
  ],
  [
    'the same beside one that is well',
    snapshotOf([{ ...a, ...down }, b], { passedOver: [passed('a', 10)] }),
    'canary',
    'b!',
  ],

  [
    'one that is down and wants something else',
    snapshotOf([{ ...a, ...down, desired: 'a-3' }, b], { turns: [turnFor('a')] }),
    'canary',
    'a!',
  ],
  [
    'two of them',
    snapshotOf(
      [
        { ...a, ...down, desired: 'a-3' },
        { ...b, ...down, desired: 'b-3' },
      ],
      { turns: [turnFor('a'), turnFor('b')] },
    ),
    'canary',
    'a! b~',
  ],
  [
    'two of them, when it is proven',
    snapshotOf(
      [
        { ...a, ...down, desired: 'a-3' },
        { ...b, ...down, desired: 'b-3' },
      ],
      { ...proven, turns: [turnFor('a'), turnFor('b')] },
    ),
    'wave',
    'a b',
  ],
  ...(
    [
      ['has that', { actual: 'a-3' }],
      ['is paused', { paused: true }],
      ['has refused that', { failed: 'a-3', lastFailure: now }],
    ] as const
  ).map(([what, more]): (typeof table)[number] => [
    `one that is down, wants something else and ${what}`,
    snapshotOf([{ ...a, ...down, desired: 'a-3', ...more }], { turns: [turnFor('a')] }),
    'canary',
    'a~',
  ]),
  [
    'one that is down and wants something else, beside one that is on it',
    snapshotOf([{ ...a, ...down, desired: 'a-3' }, b], { turns: [turnFor('a'), turnFor('b')] }),
    'canary',
    'a~ b',
  ],
  [
    'the same in a pause',
    snapshotOf([{ ...a, ...down, desired: 'a-3' }, b], { turns: [turnFor('a')] }, { paused: true }),
    'canary',
    'a~',
  ],
  [
    'a roll back and a new revision',
    snapshotOf([updated('a', { ...down, desired: 'a-3' }), b], {
      turns: [turnFor('a', { rollBack: true, revision: 'r1' })],
    }),
    'canary',
    'a<',
  ],
];

describe('decide: which machine gets a turn', () => {
  for (const [name, snapshot, state, turns] of table)
    it(`${name}: ${state}${turns && ` with ${turns}`}`, () => {
      const decision = decide(snapshot);
      assert.equal(decision.kind, 'roll');
      assert.deepEqual([decision.state, sketch(decision.rollRecord, snapshot)], [state, turns]);
    });
});

const rollRecordAfter = (snapshot: Snapshot): RollRecord => {
  const decision = decide(snapshot);
  assert.equal(decision.kind, 'roll');
  return decision.rollRecord;
};

describe('decide: the roll record', () => {
  it('a turn names the machine, the hash and the time', () => {
    const { turns, rollStartedAt } = rollRecordAfter(snapshotOf([a]));
    const { uid } = a;
    assert.deepEqual(turns, [{ machine: 'a', uid, hash: 'a-2', revision: 'r2', canary: true, grantedAt: ago(0) }]);
    assert.equal(rollStartedAt, ago(0));
  });

  it('a stop records machine, reason and time, and clears provenRevision', () => {
    const rollRecord = rollRecordAfter(
      snapshotOf([{ ...a, ...refusal, failureMessage: 'No space left on device.' }], {
        ...proven,
        turns: [turnFor('a')],
      }),
    );
    assert.deepEqual(rollRecord.stop, {
      reason: 'PushRejected',
      machine: 'a',
      message: 'No space left on device.',
      at: ago(0),
    });
    assert.equal(rollRecord.stalledRevision, 'r2');
    assert.equal(rollRecord.provenRevision, undefined);
  });

  it('a stop has a message even if the machine has none', () => {
    const stopOf = (snapshot: Snapshot) => rollRecordAfter(snapshot).stop;
    const turns = [turnFor('a', { grantedAt: ago(20) })];
    assert.deepEqual(stopOf(snapshotOf([{ ...a, ...refusal }], { turns })), {
      reason: 'PushRejected',
      machine: 'a',
      message: 'It refused what was sent to it.',
      at: ago(0),
    });
    assert.deepEqual(stopOf(snapshotOf([updated('a', down)], { turns })), {
      reason: 'GateDeadlineExceeded',
      machine: 'a',
      message: 'It is not Ready.',
      at: ago(0),
    });
  });

  it('a second failure does not replace the first', () => {
    const late = updated('b', down);
    const turns = [turnFor('b', { grantedAt: ago(20) })];
    const rollRecord = rollRecordAfter(snapshotOf([a, late], { ...stalled, turns }));
    assert.equal(rollRecord.stop, stop);
    assert.equal(rollRecord.turns[0]?.rollBack, true);
  });

  it('a rollback has its own start time', () => {
    const turns = [turnFor('a', { grantedAt: ago(20), canary: true })];
    const [turn] = rollRecordAfter(snapshotOf([updated('a', down)], { turns })).turns;
    assert.deepEqual(turn, { ...turns[0], canary: false, rollBack: true, grantedAt: ago(0) });
  });

  it('the time of a turn that waits for idle starts when the Mac is idle', () => {
    const waiting = { ...a, waitingForIdle: true };
    const [turn] = rollRecordAfter(snapshotOf([waiting], { turns: [turnFor('a')] })).turns;
    assert.deepEqual(turn, turnFor('a', { waitsForIdle: true }));
    assert.deepEqual(rollRecordAfter(snapshotOf([waiting], { turns: [turnFor('a', { waitsForIdle: true })] })).turns, [
      turn,
    ]);
    const [idle] = rollRecordAfter(snapshotOf([a], { turns: [turnFor('a', { waitsForIdle: true })] })).turns;
    assert.deepEqual(idle, turnFor('a', { grantedAt: ago(0) }));
  });

  it('a continued turn keeps its start time', () => {
    assert.deepEqual(rollRecordAfter(snapshotOf([a], { turns: [turnFor('a')] })).turns, [turnFor('a')]);
  });

  it('rollStartedAt is kept until the roll is finished or another one starts', () => {
    const running = { ...proven, turns: [turnFor('a')] };
    assert.equal(rollRecordAfter(snapshotOf([a], running)).rollStartedAt, proven.rollStartedAt);
    assert.equal(rollRecordAfter(snapshotOf([updated('a')], running)).rollStartedAt, undefined);
    assert.equal(rollRecordAfter(snapshotOf([updated('a', down)], running)).rollStartedAt, proven.rollStartedAt);
    assert.equal(rollRecordAfter(snapshotOf([a], {}, { paused: true })).rollStartedAt, undefined);
    assert.equal(
      rollRecordAfter(snapshotOf([updated('a'), { ...b, ...down }], running)).rollStartedAt,
      proven.rollStartedAt,
    );
    assert.equal(rollRecordAfter(snapshotOf([a], { ...running, revision: 'r1' })).rollStartedAt, undefined);
    assert.equal(rollRecordAfter(snapshotOf([a], { ...proven, revision: 'r1' })).rollStartedAt, ago(0));
  });

  it('a passed-over machine is listed until it is updated or deleted', () => {
    const silent = { ...a, unreachableAt: now };
    const turns = [turnFor('a', { grantedAt: ago(3) })];
    assert.deepEqual(rollRecordAfter(snapshotOf([silent], { turns })).passedOver, [passed('a', 0)]);
    const passedOver = [passed('a', 5)];
    assert.deepEqual(rollRecordAfter(snapshotOf([a], { passedOver })).passedOver, passedOver);
    assert.deepEqual(rollRecordAfter(snapshotOf([updated('a')], { passedOver })).passedOver, []);
    assert.deepEqual(rollRecordAfter(snapshotOf([], { passedOver })).passedOver, []);
    assert.deepEqual(rollRecordAfter(snapshotOf([updated('a'), b], { passedOver })).passedOver, []);
    assert.deepEqual(rollRecordAfter(snapshotOf([{ ...a, deleting: true }], { passedOver })).passedOver, []);
    const again = { turns, passedOver: [passed('a', 20), passed('b', 1)] };
    assert.deepEqual(rollRecordAfter(snapshotOf([silent, b], again)).passedOver, [passed('a', 0), passed('b', 1)]);
    assert.deepEqual(rollRecordAfter(snapshotOf([a], { passedOver: [passed('a', 10)] })).passedOver, []);
  });

  it('a machine that is not Ready and gets a turn stays in passedOver, and so never stops the roll', () => {
    const passedOver = [passed('a', 10)];
    assert.deepEqual(rollRecordAfter(snapshotOf([{ ...a, ...down }], { passedOver })).passedOver, [passed('a', 0)]);
    assert.deepEqual(rollRecordAfter(snapshotOf([{ ...a, ...down }, updated('b')], { passedOver })).passedOver, [
      passed('a', 0),
    ]);
    const recently = [passed('a', 5)];
    assert.deepEqual(
      rollRecordAfter(snapshotOf([{ ...a, ...down }, b], { passedOver: recently })).passedOver,
      recently,
    );
    const two = [passed('c', 5), passed('a', 10)];
    assert.deepEqual(
      rollRecordAfter(
        snapshotOf(
          [
            { ...a, ...down },
            { ...c, ...down },
          ],
          { passedOver: two },
        ),
      ).passedOver,
      [passed('a', 0), passed('c', 5)],
    );
    const stranded = { ...a, ...down, desired: 'a-3' };
    assert.deepEqual(rollRecordAfter(snapshotOf([stranded], { turns: [turnFor('a')] })).passedOver, [passed('a', 0)]);
  });

  it('a machine that became not Ready in an ended turn is added to passedOver, also after a refusal', () => {
    const broken = { ...a, ...refusal, ...down };
    assert.deepEqual(rollRecordAfter(snapshotOf([broken], { turns: [turnFor('a')] })).passedOver, [passed('a', 0)]);
    const wasDown = { ...a, ...down };
    const turns = [turnFor('a', { grantedAt: ago(20) })];
    assert.deepEqual(rollRecordAfter(snapshotOf([wasDown], { turns })).passedOver, [passed('a', 0)]);
    assert.deepEqual(rollRecordAfter(snapshotOf([{ ...a, ...refusal }], { turns })).passedOver, []);
    const downNow = { ...a, ready: false, notReadySince: now - minute };
    assert.deepEqual(rollRecordAfter(snapshotOf([downNow], { turns: [turnFor('a')] })).passedOver, []);
  });
});

describe('decide: whether the MacFleet is created or deleted', () => {
  const without: Snapshot = { ...snapshotOf([]), fleet: undefined };
  for (const [name, snapshot, kind] of [
    ['machines without a MacFleet', { ...without, machines: [a] }, 'create'],
    ['desired machines without a MacFleet', { ...without, desired: 1 }, 'create'],
    ['no machines and no MacFleet', without, 'skip'],
    ['our MacFleet with a machine being deleted', snapshotOf([{ ...a, deleting: true }], {}, { ours: true }), 'roll'],
    ['our MacFleet with a desired machine', { ...without, fleet: fleetFacts({}, { ours: true }), desired: 1 }, 'roll'],
    ['our MacFleet without machines', snapshotOf([], {}, { ours: true }), 'delete'],
    ['the MacFleet of a user without machines', snapshotOf([]), 'roll'],
    ['a MacFleet being deleted', snapshotOf([a], {}, { deleting: true, ours: true }), 'skip'],
  ] as const)
    it(`${name}: ${kind}`, () => {
      assert.equal(decide(snapshot).kind, kind);
    });

  it('a skipped MacFleet has a reason', () => {
    assert.deepEqual(decide(without), { kind: 'skip', reason: 'notNeeded' });
    assert.deepEqual(decide(snapshotOf([a], {}, { deleting: true })), { kind: 'skip', reason: 'deleting' });
  });
});
