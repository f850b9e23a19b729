import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createKnownPods, type KnownPods } from './known-pods.ts';
import { examplePod } from './testing/example.ts';

const version = (resourceVersion: string, uid = 'uid-1') =>
  examplePod((pod) => Object.assign(pod.metadata, { resourceVersion, uid }));

describe('the Pods of this Mac, as new as anybody has told', () => {
  it('a watch that is behind brings nothing back that a write of ours has changed (INC-29)', () => {
    const known = createKnownPods();
    assert.equal(known.watched(version('9')), true);
    known.written(version('10'));
    assert.equal(known.get('uid-1')?.metadata.resourceVersion, '10', 'by number and not by letters');
    assert.equal(known.watched(version('9')), false);
    assert.equal(known.watched(version('10')), false, 'the same again is no news');
    known.written(version('9'));
    assert.equal(known.get('uid-1')?.metadata.resourceVersion, '10');
  });

  it('a GET counts, also from a server that was put back to an older state', () => {
    const known = createKnownPods();
    known.watched(version('10'));
    known.read(version('3'));
    assert.equal(known.get('uid-1')?.metadata.resourceVersion, '3');
  });

  it('an answer that the server knows no such UID counts until the watch, or a GET, says otherwise', () => {
    const known = createKnownPods();
    known.watched(version('10'));
    known.notFound('uid-1');
    assert.deepEqual([known.get('uid-1'), known.all()], [undefined, []]);
    assert.equal(known.watched(version('10')), false);
    known.written(version('9'));
    assert.equal(known.get('uid-1'), undefined, 'what is no news brings nothing back');
    known.read(version('10'));
    assert.equal(known.all().length, 1);
    known.notFound('uid-1');
    assert.equal(known.watched(version('11')), true);
    assert.equal(known.all().length, 1);
  });

  it('answers bring back nothing that the watch has removed', () => {
    const known = createKnownPods();
    known.watched(version('10'));
    known.removed('uid-1');
    known.written(version('11'));
    assert.deepEqual(known.all(), []);
    known.read(version('11'));
    assert.deepEqual(known.all(), []);
    known.notFound('uid-1');
    assert.deepEqual([known.get('uid-1'), known.all()], [undefined, []]);
  });
});

type Told = [what: string, tell: (known: KnownPods) => void];

/** Every way to put them in a row in which those of `inOrder` keep their order. */
function* merges(inOrder: readonly Told[], free: readonly Told[]): Generator<readonly Told[]> {
  const [next, ...rest] = inOrder;
  if (next === undefined && free.length === 0) yield [];
  if (next !== undefined) for (const row of merges(rest, free)) yield [next, ...row];
  for (const one of free)
    for (const row of merges(
      inOrder,
      free.filter((other) => other !== one),
    ))
      yield [one, ...row];
}

describe('what is known once everything has arrived is what the server has, in whatever order it came', () => {
  const watched = (resourceVersion: string, uid?: string): Told => [
    `watch ${resourceVersion}`,
    (known) => known.watched(version(resourceVersion, uid)),
  ];
  const removed = (uid: string): Told => [`watch removes ${uid}`, (known) => known.removed(uid)];
  const written = (resourceVersion: string, uid?: string): Told => [
    `PATCH answers ${resourceVersion}`,
    (known) => known.written(version(resourceVersion, uid)),
  ];
  const read = (resourceVersion: string): Told => [
    `GET answers ${resourceVersion}`,
    (known) => known.read(version(resourceVersion)),
  ];
  const notFound: Told = ['404', (known) => known.notFound('uid-1')];

  const answers = [written('3'), written('5'), read('4'), notFound];
  const stories: [string, readonly Told[], readonly Told[], readonly string[]][] = [
    ['it goes', [watched('1'), watched('3'), watched('4'), watched('5'), removed('uid-1')], answers, []],
    ['it goes, and a list tells it', [watched('1'), watched('3'), removed('uid-1')], answers, []],
    [
      'another one gets its name',
      [watched('1'), watched('5'), removed('uid-1'), watched('7', 'uid-2')],
      [...answers, written('8', 'uid-2')],
      ['uid-2'],
    ],
    ['it stays', [watched('1'), watched('3'), watched('5')], [written('3'), written('5')], ['uid-1']],
  ];
  for (const [sentence, inOrder, free, expected] of stories)
    it(sentence, () => {
      for (const row of merges(inOrder, free)) {
        const known = createKnownPods();
        for (const [, tell] of row) tell(known);
        const uids = known.all().map(({ metadata }) => metadata.uid);
        assert.deepEqual(uids, expected, row.map(([what]) => what).join('\n'));
      }
    });
});
