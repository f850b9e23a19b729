import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ApiError } from '../errors/api-error.ts';
import { listObjects, type ListResult } from './list.ts';
import { options, put, remove, thing, things, thingsCore } from './testing/thing-resource.ts';

const names = ({ items }: ListResult): string[] => items.map(({ metadata }) => metadata.name);

const refusal = (run: () => unknown): { code: number; reason: string | undefined } => {
  try {
    run();
  } catch (error) {
    if (error instanceof ApiError) return { code: error.code, reason: error.status.reason };
    throw error;
  }
  throw new assert.AssertionError({ message: 'it was not refused' });
};

test('a list has the revision of the snapshot, not of its newest item', () => {
  const core = thingsCore();
  put(core, thing('a'));
  core.storage.put('other/x', thing('x'));
  const listed = listObjects(core, things, 'default', options(''));
  assert.equal(listed.metadata.resourceVersion, String(core.storage.revision));
});

test('pages show one snapshot, whatever is written between them', () => {
  const write = fc.record({ name: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'), gone: fc.boolean() });
  fc.assert(
    fc.property(fc.array(write), fc.array(write), fc.integer({ min: 1, max: 4 }), (before, between, limit) => {
      const core = thingsCore();
      const apply = ({ name, gone }: { name: string; gone: boolean }): void =>
        gone ? remove(core, name) : void put(core, thing(name));
      before.forEach(apply);
      const whole = names(listObjects(core, things, '', options('')));
      const paged: string[] = [];
      let page = listObjects(core, things, '', options(`limit=${limit}`));
      for (;;) {
        paged.push(...names(page));
        if (page.metadata.continue === undefined) break;
        between.forEach(apply);
        page = listObjects(core, things, '', options(`limit=${limit}&continue=${page.metadata.continue}`));
      }
      assert.deepEqual(paged, whole);
    }),
  );
});

test('the remaining items are counted, but not with a selector', () => {
  const core = thingsCore();
  for (const name of ['a', 'b', 'c']) put(core, thing(name));
  assert.equal(listObjects(core, things, '', options('limit=1')).metadata.remainingItemCount, 2);
  const selected = listObjects(core, things, '', options('limit=1&labelSelector=!x'));
  assert.equal(selected.metadata.remainingItemCount, undefined);
  assert.notEqual(selected.metadata.continue, undefined);
});

test('a page of a compacted revision offers to continue with the current state', () => {
  const core = thingsCore(4);
  for (const name of ['a', 'b', 'c']) put(core, thing(name));
  const token = listObjects(core, things, '', options('limit=1')).metadata.continue;
  for (let count = 0; count < 20; count++) put(core, thing('z'));
  let offered: string | undefined;
  assert.throws(
    () => listObjects(core, things, '', options(`limit=1&continue=${token}`)),
    (error) => {
      assert.ok(error instanceof ApiError);
      offered = error.status.metadata.continue;
      return error.code === 410 && error.status.reason === 'Expired';
    },
  );
  assert.deepEqual(names(listObjects(core, things, '', options(`continue=${offered}`))), ['b', 'c', 'z']);
});

const refusals: [query: string, code: number, reason: string][] = [
  ['resourceVersionMatch=Exact', 422, 'Invalid'],
  ['resourceVersionMatch=Exact&resourceVersion=0', 422, 'Invalid'],
  ['resourceVersionMatch=Sometimes&resourceVersion=1', 422, 'Invalid'],
  ['sendInitialEvents=true', 422, 'Invalid'],
  ['resourceVersion=soon', 400, 'BadRequest'],
  ['limit=many', 400, 'BadRequest'],
  ['continue=garbage', 400, 'BadRequest'],
  ['resourceVersion=999999', 504, 'Timeout'],
  ['labelSelector=a in', 400, 'BadRequest'],
  ['fieldSelector=spec.unheard=x', 400, 'BadRequest'],
];

for (const [query, code, reason] of refusals) {
  test(`a list with ${query} is refused`, () => {
    const core = thingsCore();
    assert.deepEqual(
      refusal(() => listObjects(core, things, '', options(query))),
      { code, reason },
    );
  });
}
