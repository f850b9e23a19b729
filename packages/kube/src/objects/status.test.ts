import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Client, Patch, WriteOptions } from '../client/client.ts';
import { KubeError } from '../errors/kube-error.ts';
import { defineResource, type KubeObject, type Live, type ObjectName } from './object.ts';
import { patchStatus } from './status.ts';

interface Mini extends KubeObject {
  status?: { [member: string]: unknown };
}
const minis = defineResource<Mini>({
  group: 'example.com',
  version: 'v1',
  kind: 'Mini',
  plural: 'minis',
  namespaced: true,
});

const miniWith = (status?: object): Live<Mini> => ({
  metadata: {
    name: 'a',
    namespace: 'ns',
    uid: 'u',
    resourceVersion: '41',
    creationTimestamp: '2026-01-01T00:00:00Z',
  },
  ...(status === undefined ? {} : { status: { ...status } }),
});

/** RFC 7386, implemented from its text. */
const merge = (target: unknown, patch: unknown): unknown => {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const isObject = typeof target === 'object' && target !== null && !Array.isArray(target);
  const result = new Map(isObject ? Object.entries(target) : []);
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) result.delete(key);
    else result.set(key, merge(result.get(key), value));
  }
  return Object.fromEntries(result);
};

const recorder = () => {
  const calls: { name: ObjectName; patch: Patch; options: WriteOptions }[] = [];
  const client = {
    patch: (_: unknown, name: ObjectName, patch: Patch, options: WriteOptions) => {
      calls.push({ name, patch, options });
      return Promise.resolve(miniWith());
    },
  } as unknown as Client;
  return { calls, client };
};

const patchFor = async (before: object | undefined, next: object): Promise<unknown> => {
  const { calls, client } = recorder();
  await patchStatus(client, minis, miniWith(before), { ...next });
  return (calls[0]?.patch.body as { status?: unknown } | undefined)?.status;
};

describe('patchStatus', () => {
  it('patches the status subresource with the resourceVersion that was read', async () => {
    const { calls, client } = recorder();
    await patchStatus(client, minis, miniWith(), { phase: 'Ready' }, { deadlineMs: 5 });
    assert.deepEqual(calls, [
      {
        name: { name: 'a', namespace: 'ns' },
        patch: { type: 'merge', body: { metadata: { resourceVersion: '41' }, status: { phase: 'Ready' } } },
        options: { deadlineMs: 5, subresource: 'status' },
      },
    ]);
  });

  const table: [string, object | undefined, object, unknown][] = [
    ['nothing changed', { a: 1, b: { c: [1] } }, { b: { c: [1] }, a: 1 }, undefined],
    ['nothing was there and nothing is wanted', undefined, {}, undefined],
    ['an empty status stays empty', {}, {}, undefined],
    ['a member is new', { a: 1 }, { a: 1, b: 2 }, { b: 2 }],
    ['a member is gone', { a: 1, b: 2 }, { a: 1 }, { b: null }],
    ['a member is undefined', { a: 1, b: 2 }, { a: 1, b: undefined }, { b: null }],
    ['a member is null', { a: 1, b: 2 }, { a: 1, b: null }, { b: null }],
    ['a member is null and was never there', { a: 1 }, { a: 1, b: null }, undefined],
    ['a nested member changed', { a: { b: 1, c: 2 }, d: 3 }, { a: { b: 1, c: 4 }, d: 3 }, { a: { c: 4 } }],
    ['a list changed', { a: [1, 2] }, { a: [2] }, { a: [2] }],
    ['a list of maps has a null', { a: [{ b: 1 }] }, { a: [{ b: 1, c: null }] }, undefined],
    ['a map becomes a list', { a: { b: 1 } }, { a: [] }, { a: [] }],
    ['a text becomes a map', { a: 'x' }, { a: { b: null, c: 1 } }, { a: { c: 1 } }],
    ['a map becomes empty', { a: { b: 1 } }, { a: {} }, { a: { b: null } }],
    ['all is gone', { a: 1 }, {}, { a: null }],
  ];
  for (const [name, before, next, patch] of table)
    it(`sends ${JSON.stringify(patch) ?? 'nothing'} when ${name}`, async () => {
      assert.deepEqual(await patchFor(before, next), patch);
    });

  it('returns its input when nothing changed', async () => {
    const live = miniWith({ a: 1 });
    assert.equal(await patchStatus(recorder().client, minis, live, { a: 1 }), live);
  });

  it('rejects when the write fails', async () => {
    const client = { patch: () => Promise.reject(new KubeError('conflict', 'changed')) } as unknown as Client;
    await assert.rejects(patchStatus(client, minis, miniWith(), { a: 1 }), { reason: 'conflict' });
  });

  const aMap = fc.dictionary(
    fc.oneof(fc.constantFrom('a', 'b', '__proto__', 'constructor', 'toString'), fc.string({ maxLength: 2 })),
    fc.jsonValue({ maxDepth: 3 }),
    { noNullPrototype: true },
  );

  const withoutNulls = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(withoutNulls);
    if (typeof value !== 'object' || value === null) return value;
    const members = Object.entries(value).filter(([, member]) => member !== null);
    return Object.fromEntries(members.map(([key, member]) => [key, withoutNulls(member)]));
  };

  it('removes a field named by a backslash or a quote', async () => {
    assert.deepEqual(await patchFor({ q: 0, '\\': 1 }, { q: 0 }), { '\\': null });
    assert.deepEqual(await patchFor({ q: 0, '"': 1 }, { q: 0 }), { '"': null });
  });

  it('compares dates and special numbers as JSON writes them', async () => {
    assert.deepEqual(await patchFor({ a: 0 }, { a: -0, at: new Date(0), n: Number.NaN, list: [undefined] }), {
      at: '1970-01-01T00:00:00.000Z',
      list: [null],
    });
  });

  it('results in exactly the requested status, for any previous one', async () => {
    await fc.assert(
      fc.asyncProperty(aMap, aMap, async (before, next) => {
        const start = withoutNulls(before) as object;
        const patch = await patchFor(start, next);
        const after = patch === undefined ? start : merge(start, patch);
        assert.equal(canonical(after), canonical(withoutNulls(next)));
        assert.equal(await patchFor(after as object, next), undefined, 'a second time sends nothing');
      }),
      { numRuns: 500 },
    );
  });
});

/** Equal text for equal JSON, a member named __proto__ included. */
const canonical = (value: unknown): string =>
  Array.isArray(value)
    ? `[${value.map(canonical).join()}]`
    : typeof value === 'object' && value !== null
      ? `{${Object.entries(value)
          .map(([key, member]) => `${JSON.stringify(key)}:${canonical(member)}`)
          .sort()
          .join()}}`
      : JSON.stringify(value);
