import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { goldenName } from '../images/image-reference.ts';
import type { Journal, VmRecord } from '../journal/journal.ts';
import { type OwnershipMarker, writeOwnershipMarker } from '../journal/vm-identity.ts';
import { createOwnership, hasMarker, imageOfBase, isInJournal } from './ownership.ts';

const repository = 'ghcr.io/a/b';
const digest = `sha256:${'a'.repeat(64)}`;
const golden = goldenName({ repository, digest });
const image = `${repository}@${digest}`;

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

  test('forgets images and golden bases: the record of a clone ends with its Pod', async () => {
    const forgotten: string[] = [];
    const forget = async (name: string): Promise<void> => void forgotten.push(name);
    const no = async (): Promise<boolean> => false;
    const ownership = createOwnership({ images: { isOwned: no, forget }, isInJournal: no, hasMarker: no });
    for (const name of ['x', golden, image]) await ownership.forget(name);
    assert.deepEqual(forgotten, [golden, image]);
  });
});

test('the journal has a VM, does not have it, or is unreadable', async () => {
  const journalOf = (...problems: string[]): Pick<Journal, 'list'> => ({
    list: async () => ({ uids: [], records: ['a', 'b'].map((vm) => ({ vm }) as VmRecord), problems }),
  });
  assert.equal(await isInJournal(journalOf(), 'b'), true);
  assert.equal(await isInJournal(journalOf(), 'c'), false);
  assert.equal(await isInJournal(journalOf('torn'), 'b'), true);
  await assert.rejects(isInJournal(journalOf('torn'), 'c'), /whether c is in the journal: torn/);
  await assert.rejects(isInJournal({ list: () => Promise.reject(new Error('no disk')) }, 'b'), /no disk/);
});

describe('the ownership marker', () => {
  const common = { version: 1, agent: 'v1', vm: golden } as const;
  const images: readonly [string, string, OwnershipMarker | undefined, string | undefined][] = [
    ['of its image', golden, { ...common, goldenOf: image }, image],
    ['of another image', golden, { ...common, goldenOf: `${repository}@sha256:${'b'.repeat(64)}` }, undefined],
    ['of a tag', golden, { ...common, goldenOf: `${repository}:main` }, undefined],
    ['of what is no image', golden, { ...common, goldenOf: 'x' }, undefined],
    ['of a Pod', golden, { ...common, podUID: 'u1' }, undefined],
    ['that is missing', golden, undefined, undefined],
  ];
  for (const [what, name, marker, expected] of images)
    test(`${what} names ${expected === undefined ? 'no image' : 'the image'} of a golden base`, () =>
      assert.equal(imageOfBase(name, marker), expected));

  const pod = { podUID: 'u1' };
  const markers: readonly [string, string, ({ podUID: string } | { goldenOf: string }) & { vm?: string }, boolean][] = [
    ['a clone', 'x', pod, true],
    ['a copy of a clone that somebody made', 'x', { ...pod, vm: 'y' }, false],
    ['a clone with the marker of a base', 'x', { goldenOf: image }, false],
    ['a golden base', golden, { goldenOf: image }, true],
    ['a golden base with the marker of a clone', golden, pod, false],
    ['a path', 'x/y', pod, false],
    ['a hidden folder', '.x', pod, false],
  ];
  for (const [what, vm, marker, expected] of markers)
    test(`of ${what}: ${expected ? 'ours' : 'not ours'}`, async (t) => {
      const tartHome = await mkdtemp(join(tmpdir(), 'ownership-'));
      t.after(() => rm(tartHome, { recursive: true }));
      const folder = join(tartHome, 'vms', vm);
      await mkdir(folder, { recursive: true });
      assert.equal(await hasMarker(tartHome, vm), false, 'before it is written');
      await writeOwnershipMarker(folder, { version: 1, agent: 'v1', vm, ...marker });
      assert.equal(await hasMarker(tartHome, vm), expected);
    });
});
