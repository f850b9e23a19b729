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
    assert.deepEqual(decodeList(text), [
      { source: 'local', name: 'a', state: 'running', accessedAt: Date.UTC(2026, 0, 2, 3, 4, 5) },
      { source: 'OCI', name: 'ghcr.io/a/b:1', state: 'stopped', accessedAt: undefined },
    ]);
  });

  test('accepts every type of Size (INC-49)', () => {
    for (const Size of [72, '72.660', 72.66, null, '', {}]) {
      assert.equal(decodeDetails(JSON.stringify({ Size, State: 'stopped' }))?.state, 'stopped');
      assert.equal(decodeList(JSON.stringify([{ Source: 'local', Name: 'a', Size }]))?.length, 1);
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

  test('leaves out an entry without a name or source', () => {
    assert.deepEqual(decodeList('[{"Source":"local"},{"Name":"x"},7]'), []);
  });

  test('returns undefined for malformed output', () => {
    for (const text of ['', 'null', '{}', '{"a":[', 'Error: no', '"[]"'])
      assert.equal(decodeList(text), undefined, text);
    for (const text of ['', 'null', '[]', '7', '{"a":[', 'Error: no'])
      assert.equal(decodeDetails(text), undefined, text);
  });

  test('never throws', () => {
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
        assert.ok((decodeList(JSON.stringify(items))?.length ?? 0) <= items.length);
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
