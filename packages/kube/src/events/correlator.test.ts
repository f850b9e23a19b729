import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { manualClock } from '../clock/manual-clock.ts';
import { createCorrelator, type EventRecord } from './correlator.ts';
import type { EventInput, InvolvedObject } from './event.ts';

const minute = 60_000;
const involved: InvolvedObject = { apiVersion: 'v1', kind: 'Node', name: 'mini', uid: 'u' };
const saying = (message: string): EventInput => ({ type: 'Normal', reason: 'Up', message });

const setup = () => {
  const clock = manualClock();
  return { clock, correlator: createCorrelator(clock) };
};

describe('the same event', () => {
  it('is counted in one record', () => {
    const { clock, correlator } = setup();
    const first = correlator.observe(involved, saying('m'));
    const firstAt = clock.now();
    clock.advance(9 * minute);
    const again = correlator.observe({ ...involved, resourceVersion: '7' }, saying('m'));
    assert.equal(again, first);
    assert.deepEqual(again, {
      involved,
      sequence: 0,
      event: saying('m'),
      count: 2,
      firstAt,
      lastAt: clock.now(),
    });
  });

  it('starts a new record after ten minutes without it', () => {
    const { clock, correlator } = setup();
    const first = correlator.observe(involved, saying('m'));
    clock.advance(10 * minute + 1);
    const later = correlator.observe(involved, saying('m'));
    assert.notEqual(later, first);
    assert.equal(later?.count, 1);
  });

  const others: [string, InvolvedObject, EventInput][] = [
    ['another object', { ...involved, uid: 'v' }, saying('m')],
    ['another reason', involved, { ...saying('m'), reason: 'Down' }],
    ['another type', involved, { ...saying('m'), type: 'Warning' }],
    ['another message', involved, saying('n')],
  ];
  for (const [name, object, input] of others)
    it(`has another record for ${name}`, () => {
      const { correlator } = setup();
      const first = correlator.observe(involved, saying('m'));
      assert.notEqual(correlator.observe(object, input), first);
    });
});

describe('similar events', () => {
  it('are combined from the eleventh message on', () => {
    const { correlator } = setup();
    const records = Array.from({ length: 13 }, (_, i) => correlator.observe(involved, saying(`m${i}`)));
    assert.equal(new Set(records).size, 11);
    assert.equal(records[9]?.event.message, 'm9');
    assert.equal(records[12]?.event.message, '(combined from similar events): m12');
    assert.equal(records[12]?.count, 3);
  });

  it('are not combined after ten quiet minutes', () => {
    const { clock, correlator } = setup();
    for (let i = 0; i < 12; i++) correlator.observe(involved, saying(`m${i}`));
    clock.advance(10 * minute + 1);
    assert.equal(correlator.observe(involved, saying('x'))?.event.message, 'x');
  });

  it('have a message below the size limit, also when combined', () => {
    const { correlator } = setup();
    const records = Array.from({ length: 12 }, (_, i) =>
      correlator.observe(involved, saying(`${i}${'é'.repeat(1000)}`)),
    );
    for (const record of records) assert.ok(Buffer.byteLength(record?.event.message ?? '') <= 1024);
  });
});

describe('an object with too many events', () => {
  it('gets 25 writes at once and then one every five minutes, and every event is counted', () => {
    const { clock, correlator } = setup();
    const written = Array.from({ length: 40 }, () => correlator.observe(involved, saying('m')));
    assert.equal(written.filter(Boolean).length, 25);
    assert.ok(correlator.observe({ ...involved, uid: 'other' }, saying('m')), 'others are not held back');
    clock.advance(5 * minute - 1);
    assert.equal(correlator.observe(involved, saying('m')), undefined);
    clock.advance(1);
    assert.equal(correlator.observe(involved, saying('m'))?.count, 42);
    assert.equal(correlator.observe(involved, saying('m')), undefined);
  });
});

describe('any sequence of events', () => {
  it('is counted exactly once', () => {
    const aStep = fc.record({ message: fc.nat(20), pauseMs: fc.nat(5 * minute) });
    fc.assert(
      fc.property(fc.array(aStep, { maxLength: 100 }), (steps) => {
        const { clock, correlator } = setup();
        const records = new Set<EventRecord>();
        for (const { message, pauseMs } of steps) {
          clock.advance(pauseMs + 5 * minute);
          const record = correlator.observe(involved, saying(String(message)));
          assert.ok(record, 'one in five minutes is always written');
          records.add(record);
          assert.ok(record.firstAt <= record.lastAt && record.lastAt === clock.now());
        }
        const counted = [...records].reduce((sum, { count }) => sum + count, 0);
        assert.equal(counted, steps.length);
      }),
    );
  });
});
