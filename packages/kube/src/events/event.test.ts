import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { eventName, involvedObjectOf, truncate } from './event.ts';

const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const named = (name: string) => ({ apiVersion: 'v1', kind: 'X', name });

describe('the name of an event', () => {
  it('begins with the name of its object', () => {
    assert.match(eventName(named('web-0.a'), 'pod', 1000, 0), /^web-0\.a\.3e8[0-9a-f]{8}0$/);
  });
  it('is valid for any object name', () => {
    const name = fc.oneof(
      fc.string({ maxLength: 300 }),
      fc.string({ unit: fc.constantFrom('a', '.', '-', ':'), maxLength: 300 }),
    );
    fc.assert(
      fc.property(name, fc.nat(), (text, sequence) => {
        const result = eventName(named(text), 'pod', 1.7e12, sequence);
        assert.ok(result.length <= 253 && subdomain.test(result), result);
      }),
      { numRuns: 1000 },
    );
  });
  it('differs between processes and between events', () => {
    const all = [eventName(named('a'), 'p', 1, 0), eventName(named('a'), 'q', 1, 0), eventName(named('a'), 'p', 1, 1)];
    assert.equal(new Set(all).size, 3);
  });
});

describe('a truncated text', () => {
  it('fits the limit, is well-formed and is a prefix of the original', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), fc.integer({ min: 4, max: 40 }), (text, bytes) => {
        const short = truncate(text, bytes);
        assert.ok(Buffer.byteLength(short) <= bytes);
        assert.ok(short.isWellFormed());
        if (Buffer.byteLength(text) <= bytes) assert.equal(short, text.toWellFormed());
        else assert.ok(short.endsWith('…') && text.toWellFormed().startsWith(short.slice(0, -1)));
      }),
    );
  });
});

describe('the object of an event', () => {
  it('is referenced by its metadata', () => {
    const metadata = { name: 'a', namespace: 'ns', uid: 'u', resourceVersion: '5', labels: {} };
    assert.deepEqual(involvedObjectOf({ apiVersion: 'v1', kind: 'Pod', metadata }), {
      apiVersion: 'v1',
      kind: 'Pod',
      name: 'a',
      namespace: 'ns',
      uid: 'u',
      resourceVersion: '5',
    });
  });
  for (const object of [
    {},
    { apiVersion: 'v1', kind: 'Pod' },
    { kind: 'Pod', metadata: { name: 'a' } },
    { apiVersion: 'v1', metadata: { name: 'a' } },
  ])
    it(`is unknown when it is ${JSON.stringify(object)}`, () => {
      assert.equal(involvedObjectOf(object), undefined);
    });
});
