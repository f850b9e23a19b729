import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { decodeDetails, decodeList } from './decode.ts';

describe('JSON output of tart', () => {
  test('lists local VMs and images and ignores everything else', () => {
    const text = JSON.stringify([
      {
        Source: 'local',
        Name: 'a',
        Disk: 50,
        Size: 20,
        Accessed: '2026-01-02T03:04:05Z',
        Running: true,
        State: 'running',
      },
      {
        Source: 'OCI',
        Name: 'ghcr.io/a/b:1',
        Disk: 50,
        Size: '72.660',
        Running: false,
        State: 'stopped',
        New: { x: 1 },
      },
    ]);
    assert.deepEqual(decodeList(text), {
      unreadable: 0,
      entries: [
        {
          source: 'local',
          name: 'a',
          state: 'running',
          diskGb: 50,
          sizeGb: 20,
          accessedAt: Date.UTC(2026, 0, 2, 3, 4, 5),
        },
        { source: 'OCI', name: 'ghcr.io/a/b:1', state: 'stopped', diskGb: 50, sizeGb: 72.66, accessedAt: undefined },
      ],
    });
  });

  test('accepts Size as a number or a string (INC-49)', () => {
    for (const [Size, sizeGb] of [
      [72, 72],
      ['72.660', 72.66],
      [72.66, 72.66],
      [null, undefined],
      ['', undefined],
      ['lots', undefined],
      [{}, undefined],
      [-1, undefined],
    ] as const) {
      assert.equal(decodeDetails(JSON.stringify({ Size, State: 'stopped' }))?.sizeGb, sizeGb);
      assert.equal(decodeList(JSON.stringify([{ Source: 'local', Name: 'a', Size }]))?.entries[0]?.sizeGb, sizeGb);
    }
  });

  test('never reads an unclear state as stopped', () => {
    const state = (fields: object): string | undefined => decodeDetails(JSON.stringify(fields))?.state;
    assert.equal(state({ Running: true, State: 'stopped' }), 'running');
    assert.equal(state({ Running: false, State: 'running' }), 'running');
    assert.equal(state({ Running: false }), 'stopped');
    assert.equal(state({ Running: false, State: 'suspended' }), 'suspended');
    assert.equal(state({ Running: false, State: 'frozen' }), 'unknown');
    assert.equal(state({ Running: 'no' }), 'unknown');
    assert.equal(state({}), 'unknown');
  });

  test('counts an entry without a name as unreadable', () => {
    assert.deepEqual(decodeList('[{"Source":"local"},{"Name":"x"},7]'), { entries: [], unreadable: 3 });
  });

  test('returns undefined for malformed output', () => {
    for (const text of ['', 'null', '{}', '{"a":[', 'Error: no', '"[]"'])
      assert.equal(decodeList(text), undefined, text);
    for (const text of ['', 'null', '[]', '7', '{"a":[', 'Error: no'])
      assert.equal(decodeDetails(text), undefined, text);
  });

  test('never throws; every item is an entry or counted as unreadable', () => {
    const soup = fc.record(
      {
        Source: fc.oneof(fc.constantFrom('local', 'OCI'), fc.jsonValue()),
        Name: fc.oneof(fc.string(), fc.jsonValue()),
        Size: fc.jsonValue(),
        Accessed: fc.oneof(fc.string(), fc.jsonValue()),
        State: fc.oneof(fc.constantFrom('running', 'stopped'), fc.jsonValue()),
        Running: fc.oneof(fc.boolean(), fc.jsonValue()),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(soup, fc.jsonValue())), (items) => {
        const list = decodeList(JSON.stringify(items));
        assert.equal((list?.entries.length ?? 0) + (list?.unreadable ?? 0), items.length);
      }),
    );
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        decodeList(text);
        decodeDetails(text);
      }),
    );
  });
});
