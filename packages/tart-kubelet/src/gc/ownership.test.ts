import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createOwnership } from './ownership.ts';

const golden = 'tuist-golden-0123456789abcdef';
const image = `ghcr.io/a/b@sha256:${'a'.repeat(64)}`;

describe('ownership', () => {
  const owner = (made: readonly string[], journal: readonly string[], marked: readonly string[]) =>
    createOwnership({
      images: { isOwned: async (name) => made.includes(name), forget: async () => {} },
      isInJournal: async (name) => journal.includes(name),
      hasMarker: async (name) => marked.includes(name),
    });
  const cases = [
    ['a clone with both', owner([], ['x'], ['x']), 'x', 'ours'],
    ['a new virtual machine under an old name', owner([], ['x'], []), 'x', 'not ours'],
    ['one of ours that somebody has renamed', owner([], [], ['x']), 'x', 'not ours'],
    ['a bake', owner([], [], []), 'tuist-runner', 'not ours'],
    ['a golden base', owner([golden], [], [golden]), golden, 'ours'],
    ['a golden base that somebody else made', owner([], [golden], []), golden, 'not ours'],
    ['an image that we fetched', owner([image], [], []), image, 'ours'],
    ['an image that was here', owner([], [], []), image, 'not ours'],
  ] as const;
  for (const [what, ownership, name, expected] of cases)
    test(`${what}: ${expected}`, async () => {
      assert.equal(await ownership.ownerOf(name), expected);
    });
  test('unreadable: unknown', async () => {
    const fails = async (): Promise<boolean> => Promise.reject(new Error('no answer'));
    const ownership = createOwnership({
      images: { isOwned: fails, forget: async () => {} },
      isInJournal: fails,
      hasMarker: fails,
    });
    for (const name of ['x', golden, image]) assert.equal(await ownership.ownerOf(name), 'unknown');
  });
});
