import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { VmEntry, VmState } from '@tartan/tart';
import fc from 'fast-check';
import { goldenName } from '../images/image-reference.ts';
import { decide, retentionMs } from './decide.ts';
import type { Snapshot } from './observe.ts';

const digest = (letter: string): string => `sha256:${letter.repeat(64)}`;
const repository = 'ghcr.io/team/runner';
const image = (letter: string): string => `${repository}@${digest(letter)}`;
const golden = (letter: string): string => goldenName({ repository, digest: digest(letter) });
const entry = (name: string, more: Partial<VmEntry> = {}): VmEntry => ({
  source: name.includes('/') ? 'OCI' : 'local',
  name,
  state: 'stopped',
  accessedAt: 0,
  ...more,
});

const now = 100 * retentionMs;
const roomy = { freeBytes: 50, totalBytes: 100 };
const full = { freeBytes: 14, totalBytes: 100 };
/** All entries are ours, stopped and closed, unless overridden. */
const snapshotWith = (entries: readonly VmEntry[], more: Partial<Snapshot> = {}): Snapshot => {
  const names = entries.map(({ name }) => name);
  return {
    now,
    pods: [],
    list: entries,
    owners: new Map([...names, image('a'), image('b')].map((name) => [name, 'ours'])),
    tags: new Map(),
    namesInTartCommands: new Set(),
    openFiles: new Map(names.map((name) => [name, 'closed'])),
    held: new Set(),
    disk: roomy,
    lastUsed: new Map(),
    outOfSpace: false,
    ...more,
  };
};
const deletedNames = (snapshot: Snapshot): readonly string[] | string => {
  const decision = decide(snapshot);
  return decision.kind === 'abort' ? decision.why : decision.deletions.map(({ name }) => name);
};
const usedLongAgo = (...letters: readonly string[]): Snapshot['lastUsed'] =>
  new Map(letters.map((letter, at) => [golden(letter), now - retentionMs - 10 + at]));
const pod = (vm: string, ...images: readonly string[]) => ({ vm, images });

describe('decide for garbage collection', () => {
  const cases: readonly (readonly [symptom: string, Snapshot, readonly string[] | string])[] = [
    [
      'clones of Pods that are gone fill the disk (INC-45, B1)',
      snapshotWith([entry('x'), entry('y')], { pods: [pod('y')] }),
      ['x'],
    ],
    [
      'stale images fill the disk (B1)',
      snapshotWith([entry(image('a')), entry(image('b'))], { pods: [pod('y', image('b'))] }),
      [image('a')],
    ],
    [
      'a bake that no Pod backs loses its files in the middle of a push (INC-46, B5)',
      snapshotWith([entry('bake')], { owners: new Map([['bake', 'not ours']]) }),
      [],
    ],
    [
      'a journal that cannot be read makes everything ours (B5)',
      snapshotWith([entry('bake')], { owners: new Map([['bake', 'unknown']]) }),
      [],
    ],
    ['an unknown name is ours (B5)', snapshotWith([entry('bake')], { owners: new Map() }), []],
    [
      'a folder is deleted under the process that has it open (INC-46, B6)',
      snapshotWith([entry('x')], { openFiles: new Map([['x', 'open']]) }),
      [],
    ],
    ['an lsof that does not answer means closed (B6)', snapshotWith([entry('x')], { openFiles: new Map() }), []],
    [
      'an image is fetched again after each Pod, since its base went with it (INC-47)',
      snapshotWith([entry(golden('a')), entry(golden('b'))], {
        lastUsed: new Map([[golden('a'), now - retentionMs + 1]]),
      }),
      [],
    ],
    [
      'a base is forgotten as soon as the agent starts anew (INC-47)',
      snapshotWith([entry(golden('a')), entry(golden('b'))]),
      [],
    ],
    [
      'a base stays for ever',
      snapshotWith([entry(golden('a')), entry(golden('b'))], { lastUsed: usedLongAgo('a') }),
      [golden('a')],
    ],
    [
      'the image of a Pod that names a tag is deleted in each round (INC-48)',
      snapshotWith([entry(image('a')), entry(`${repository}:1`)], {
        pods: [pod('y', `${repository}:1`)],
        tags: new Map([[`${repository}:1`, digest('a')]]),
      }),
      [],
    ],
    [
      'a tag that cannot be resolved makes its image stale (INC-48)',
      snapshotWith([entry(image('a'))], { pods: [pod('y', `${repository}:1`)] }),
      [],
    ],
    [
      'what a tag pointed at before it moved is kept for ever',
      snapshotWith([entry(image('a')), entry(image('b'))], {
        pods: [pod('y', `${repository}:1`)],
        tags: new Map([[`${repository}:1`, digest('b')]]),
      }),
      [image('a')],
    ],
    [
      'another repository with the same digest keeps it',
      snapshotWith([entry(image('a'))], { pods: [pod('y', `ghcr.io/other/runner@${digest('a')}`)] }),
      [image('a')],
    ],
    [
      'a base that is run by hand is deleted (INC-50)',
      snapshotWith([entry(golden('a')), entry(golden('b'))], {
        lastUsed: usedLongAgo('a'),
        namesInTartCommands: new Set(['--no-graphics', golden('a')]),
      }),
      [],
    ],
    [
      'an unreadable process list means that nothing runs (INC-50)',
      snapshotWith([entry('x'), entry(image('a'))], { namesInTartCommands: 'unknown' }),
      [],
    ],
    [
      'x is never collected while x-2 runs (INC-51)',
      snapshotWith([entry('x'), entry('x-2', { state: 'running' })], { namesInTartCommands: new Set(['x-2']) }),
      ['x'],
    ],
    [
      'six needed bases fill the disk (INC-52)',
      snapshotWith([entry(golden('a'), { accessedAt: 2 }), entry(golden('b'), { accessedAt: 1 })], {
        disk: full,
        pods: [pod('x', image('a')), pod('y', image('b'))],
      }),
      [golden('b')],
    ],
    [
      'the base of a running clone is evicted (INC-52)',
      snapshotWith([entry(golden('a')), entry(golden('b')), entry('x', { state: 'running' })], {
        disk: full,
        pods: [pod('x', image('a')), pod('y', image('b'))],
      }),
      [golden('b')],
    ],
    [
      'the last base is evicted (INC-53)',
      snapshotWith([entry(golden('a')), entry(image('a'))], { disk: full, lastUsed: usedLongAgo('a') }),
      [],
    ],
    [
      'a base is evicted, and its blocks stay with its image (INC-53)',
      snapshotWith([entry(golden('a')), entry(golden('b')), entry(image('a'))], {
        disk: full,
        lastUsed: usedLongAgo('a'),
      }),
      [image('a')],
    ],
    [
      'an image goes although its base, which has the same blocks, is not ours (INC-53)',
      snapshotWith([entry(golden('a')), entry(golden('b')), entry(image('a'))], {
        disk: full,
        owners: new Map([[image('a'), 'ours']]),
      }),
      [],
    ],
    [
      'an image goes although its base is in use (INC-53)',
      snapshotWith([entry(golden('a')), entry(golden('b'), { state: 'running' }), entry(image('b'))], {
        disk: full,
        lastUsed: usedLongAgo('b'),
      }),
      [golden('a')],
    ],
    ['all goes by one old list (INC-53)', snapshotWith([entry('x'), entry('y')], { disk: full }), ['x']],
    [
      'a fresh base is evicted while there is an orphan',
      snapshotWith([entry(golden('a')), entry(golden('b')), entry('x')], { disk: full }),
      ['x'],
    ],
    [
      'a needed base is evicted while there is an idle one',
      snapshotWith([entry(golden('a')), entry(golden('b'))], { disk: full, pods: [pod('y', image('a'))] }),
      [golden('b')],
    ],
    [
      'a pull fails for lack of space although the disk looks roomy (B2)',
      snapshotWith([entry(golden('a')), entry(golden('b'))], { outOfSpace: true, lastUsed: usedLongAgo('b') }),
      [golden('b')],
    ],
    [
      'a disk that cannot be read counts as full',
      snapshotWith([entry(golden('a')), entry(golden('b'))], { disk: 'unknown' }),
      [],
    ],
    [
      'an API server that does not answer has no Pods',
      snapshotWith([entry('x')], { pods: 'unknown' }),
      'the Pods are not known',
    ],
    [
      'a tart that does not answer has no virtual machines',
      snapshotWith([entry('x')], { list: 'unknown' }),
      'the virtual machines are not known',
    ],
    ['a virtual machine that is on is deleted (B6)', snapshotWith([entry('x', { state: 'running' })]), []],
    ['a state that cannot be read means off', snapshotWith([entry('x', { state: 'unknown' })]), []],
    ['what somebody has suspended is deleted', snapshotWith([entry('x', { state: 'suspended' })]), []],
    [
      'an image is deleted while it is cloned',
      snapshotWith([entry(image('a'))], { namesInTartCommands: new Set([image('a'), golden('a')]) }),
      [],
    ],
    [
      'what this agent works with is deleted',
      snapshotWith([entry('x'), entry(image('a'))], { held: new Set(['x', image('a')]) }),
      [],
    ],
    [
      'a tag is deleted while its image is held',
      snapshotWith([entry(`${repository}:1`)], {
        tags: new Map([[`${repository}:1`, digest('a')]]),
        held: new Set([image('a')]),
      }),
      [],
    ],
    [
      'an image that others pulled is deleted (B5)',
      snapshotWith([entry(image('a'))], { owners: new Map([[image('a'), 'not ours']]) }),
      [],
    ],
    [
      'a base is kept for longer than its retention',
      snapshotWith([entry(golden('a')), entry(golden('b'))], {
        lastUsed: new Map([[golden('a'), now - retentionMs]]),
      }),
      [golden('a')],
    ],
    [
      'a tag that cannot be resolved makes all bases stale (INC-48)',
      snapshotWith([entry(golden('a')), entry(golden('b'))], {
        lastUsed: usedLongAgo('a', 'b'),
        pods: [pod('y', `${repository}:1`)],
      }),
      [],
    ],
    [
      'a disk that is just roomy enough counts as full',
      snapshotWith([entry('x'), entry('y')], { disk: { freeBytes: 15, totalBytes: 100 } }),
      ['x', 'y'],
    ],
    [
      'an image is in use because its open files are unknown',
      snapshotWith([entry(image('a'))], { openFiles: new Map() }),
      [image('a')],
    ],
    [
      'a clone that is off protects its base',
      snapshotWith([entry(golden('a'), { accessedAt: 1 }), entry(golden('b'), { accessedAt: 2 }), entry('x')], {
        disk: full,
        pods: [pod('x', image('a')), pod('y', image('b'))],
      }),
      [golden('a')],
    ],
    [
      'a clock that was set back deletes a base',
      snapshotWith([entry(golden('a')), entry(golden('b'))], {
        lastUsed: new Map([[golden('a'), now + 10 * retentionMs]]),
      }),
      [],
    ],
  ];
  for (const [symptom, snapshot, expected] of cases)
    test(`does not repeat: ${symptom}`, () => {
      assert.deepEqual(deletedNames(snapshot), expected);
    });

  test('without disk pressure all garbage is deleted: clones, then each base after its tags and its image, except the last base', () => {
    const entries = [golden('c'), golden('b'), golden('a'), image('a'), `${repository}:1`, 'x'].map((name) =>
      entry(name),
    );
    const more = { lastUsed: usedLongAgo('a', 'b', 'c'), tags: new Map([[`${repository}:1`, digest('a')]]) };
    const expected = ['x', `${repository}:1`, image('a'), golden('a'), golden('b')];
    assert.deepEqual(deletedNames(snapshotWith(entries, more)), expected);
    assert.deepEqual(deletedNames(snapshotWith(entries.toReversed(), more)), expected);
  });

  test('a deletion has an object and a reason', () => {
    const first = (snapshot: Snapshot): unknown => {
      const decision = decide(snapshot);
      return decision.kind === 'collect' ? decision.deletions[0] : decision;
    };
    const vm = (name: string, reason: string) => ({ kind: 'virtual machine', name, ownershipKey: name, reason });
    const stored = (name: string, reason: string) => ({ kind: 'image', name, ownershipKey: image('a'), reason });
    const bases = [entry(golden('a')), entry(golden('b'))];
    const neededBases = { disk: full, pods: [pod('y', image('a'), image('b'))] };
    const tags = new Map([[`${repository}:1`, digest('a')]]);
    assert.deepEqual(first(snapshotWith([entry('x')])), vm('x', 'orphan clone'));
    assert.deepEqual(
      first(snapshotWith([entry(`${repository}:1`)], { tags })),
      stored(`${repository}:1`, 'stale image'),
    );
    assert.deepEqual(first(snapshotWith(bases, { lastUsed: usedLongAgo('a') })), vm(golden('a'), 'stale golden base'));
    assert.deepEqual(first(snapshotWith(bases, { disk: full })), vm(golden('a'), 'under pressure'));
    assert.deepEqual(first(snapshotWith(bases, neededBases)), vm(golden('a'), 'under pressure'));
    assert.deepEqual(first(snapshotWith([entry(image('a'))], neededBases)), stored(image('a'), 'under pressure'));
    assert.equal(retentionMs, 86_400_000);
  });

  test('garbage that is in use is reported with the reason', () => {
    const decision = decide(
      snapshotWith([entry('x', { state: 'running' }), entry('y'), entry('z'), entry('open')], {
        namesInTartCommands: new Set(['y']),
        held: new Set(['z']),
        openFiles: new Map([['open', 'open']]),
      }),
    );
    assert.ok(decision.kind === 'collect');
    assert.deepEqual(decision.inUse, [
      { name: 'x', reason: 'running' },
      { name: 'y', reason: 'in use by tart' },
      { name: 'z', reason: 'held' },
      { name: 'open', reason: 'files are open' },
    ]);
  });
});

describe('decide, for every possible snapshot', () => {
  const names = [
    'x',
    'x-2',
    'bake',
    golden('a'),
    golden('b'),
    golden('c'),
    image('a'),
    image('b'),
    image('c'),
    `${repository}:1`,
  ];
  const name = fc.constantFrom(...names);
  const unknownOr = <T>(value: fc.Arbitrary<T>) =>
    fc.oneof({ weight: 9, arbitrary: value }, { weight: 1, arbitrary: fc.constant('unknown' as const) });
  const mapOf = <T>(value: fc.Arbitrary<T>) =>
    fc.array(fc.tuple(name, value), { maxLength: 20 }).map((pairs) => new Map(pairs));
  const setOf = fc.array(name, { maxLength: 2 }).map((some) => new Set(some));
  const states = fc.constantFrom<VmState>('stopped', 'stopped', 'stopped', 'running', 'suspended', 'unknown');
  const snapshots: fc.Arbitrary<Snapshot> = fc.record({
    now: fc.integer({ min: 0, max: 3 * retentionMs }),
    pods: unknownOr(fc.array(fc.record({ vm: name, images: fc.array(name, { maxLength: 2 }) }), { maxLength: 2 })),
    list: unknownOr(
      fc
        .uniqueArray(fc.tuple(name, states, fc.option(fc.nat(), { nil: undefined })), { selector: ([one]) => one })
        .map((some) => some.map(([one, state, accessedAt]) => entry(one, { state, accessedAt }))),
    ),
    owners: mapOf(fc.constantFrom('ours', 'ours', 'ours', 'not ours', 'unknown')),
    tags: fc.constantFrom(new Map<string, string>(), new Map([[`${repository}:1`, digest('a')]])),
    namesInTartCommands: unknownOr(setOf),
    openFiles: mapOf(fc.constantFrom('closed', 'closed', 'open')),
    held: setOf,
    disk: unknownOr(fc.record({ freeBytes: fc.nat(100), totalBytes: fc.constantFrom(0, 100) })),
    lastUsed: mapOf(fc.nat(3 * retentionMs)),
    outOfSpace: fc.boolean(),
  });

  test('deletes only what the agent owns, nobody uses and no Pod needs; one golden base is kept', () => {
    fc.assert(
      fc.property(snapshots, (snapshot) => {
        const decision = decide(snapshot);
        if (decision.kind === 'abort') return assert.ok(snapshot.pods === 'unknown' || snapshot.list === 'unknown');
        assert.ok(snapshot.list !== 'unknown' && snapshot.pods !== 'unknown');
        const entries = snapshot.list;
        for (const { name: one, ownershipKey, kind } of decision.deletions) {
          assert.equal(snapshot.owners.get(ownershipKey), 'ours');
          assert.ok(
            snapshot.namesInTartCommands !== 'unknown' &&
              !snapshot.namesInTartCommands.has(one) &&
              !snapshot.namesInTartCommands.has(ownershipKey),
          );
          assert.ok(!snapshot.held.has(one) && !snapshot.held.has(ownershipKey));
          if (kind === 'image') continue;
          assert.equal(entries.find((other) => other.name === one)?.state, 'stopped');
          assert.equal(snapshot.openFiles.get(one), 'closed');
          assert.ok(one.startsWith('tuist-golden-') || !snapshot.pods.some(({ vm }) => vm === one));
        }
        if (decision.pressure) assert.ok(decision.deletions.length <= 1);
        const bases = (some: readonly { name: string }[]) =>
          some.filter((one) => one.name.startsWith('tuist-golden-')).length;
        if (bases(entries) > 0) assert.ok(bases(entries) > bases(decision.deletions));
        return undefined;
      }),
      { numRuns: 2000 },
    );
  });
});
