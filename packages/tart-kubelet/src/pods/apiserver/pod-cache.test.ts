import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Client, KubeError, type Live } from '@tartan/kube';
import type { Pod } from '../snapshot.ts';
import { examplePod } from '../testing/example.ts';
import { createPodCache, getLivePod, getLivePodByUid, type PodCache } from './pod-cache.ts';

const version = (resourceVersion: string, uid = 'uid-1') =>
  examplePod((pod) => Object.assign(pod.metadata, { resourceVersion, uid }));

describe('the Pod cache', () => {
  it('a stale watch event does not override the response to an own write (INC-29)', () => {
    const known = createPodCache();
    assert.equal(known.applyWatch(version('9')), true);
    known.applyWrite(version('10'));
    assert.equal(known.get('uid-1')?.metadata.resourceVersion, '10', 'by number and not by letters');
    assert.equal(known.applyWatch(version('9')), false);
    assert.equal(known.applyWatch(version('10')), false, 'the same again is no news');
    known.applyWrite(version('9'));
    assert.equal(known.get('uid-1')?.metadata.resourceVersion, '10');
  });

  it('a live read always wins, also after etcd was restored from a backup', () => {
    const known = createPodCache();
    known.applyWatch(version('10'));
    known.applyLiveRead(version('3'));
    assert.equal(known.get('uid-1')?.metadata.resourceVersion, '3');
  });

  it('a not-found response hides the Pod until the watch or a live read shows it again', () => {
    const known = createPodCache();
    known.applyWatch(version('10'));
    known.markNotFound('uid-1');
    assert.deepEqual([known.get('uid-1'), known.list()], [undefined, []]);
    assert.equal(known.applyWatch(version('10')), false);
    known.applyWrite(version('9'));
    assert.equal(known.get('uid-1'), undefined, 'what is no news brings nothing back');
    known.applyLiveRead(version('10'));
    assert.equal(known.list().length, 1);
    known.markNotFound('uid-1');
    assert.equal(known.applyWatch(version('11')), true);
    assert.equal(known.list().length, 1);
  });

  it('responses do not bring back a Pod that the watch has deleted', () => {
    const known = createPodCache();
    known.applyWatch(version('10'));
    known.applyWatchDelete('uid-1');
    known.applyWrite(version('11'));
    assert.deepEqual(known.list(), []);
    known.applyLiveRead(version('11'));
    assert.deepEqual(known.list(), []);
    known.markNotFound('uid-1');
    assert.deepEqual([known.get('uid-1'), known.list()], [undefined, []]);
  });
});

type Told = [what: string, tell: (known: PodCache) => void];

/** All interleavings in which those of `inOrder` keep their order. */
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

describe('the Pod cache converges to the state of the API server, in any order of events', () => {
  const watched = (resourceVersion: string, uid?: string): Told => [
    `watch ${resourceVersion}`,
    (known) => known.applyWatch(version(resourceVersion, uid)),
  ];
  const removed = (uid: string): Told => [`watch removes ${uid}`, (known) => known.applyWatchDelete(uid)];
  const written = (resourceVersion: string, uid?: string): Told => [
    `PATCH answers ${resourceVersion}`,
    (known) => known.applyWrite(version(resourceVersion, uid)),
  ];
  const read = (resourceVersion: string): Told => [
    `GET answers ${resourceVersion}`,
    (known) => known.applyLiveRead(version(resourceVersion)),
  ];
  const notFound: Told = ['404', (known) => known.markNotFound('uid-1')];

  const answers = [written('3'), written('5'), read('4'), notFound];
  const stories: [string, readonly Told[], readonly Told[], readonly string[]][] = [
    ['the Pod is deleted', [watched('1'), watched('3'), watched('4'), watched('5'), removed('uid-1')], answers, []],
    ['the Pod is deleted, and a relist shows it', [watched('1'), watched('3'), removed('uid-1')], answers, []],
    [
      'another Pod gets the same name',
      [watched('1'), watched('5'), removed('uid-1'), watched('7', 'uid-2')],
      [...answers, written('8', 'uid-2')],
      ['uid-2'],
    ],
    ['the Pod stays', [watched('1'), watched('3'), watched('5')], [written('3'), written('5')], ['uid-1']],
  ];
  for (const [sentence, inOrder, free, expected] of stories)
    it(sentence, () => {
      for (const row of merges(inOrder, free)) {
        const known = createPodCache();
        for (const [, tell] of row) tell(known);
        const uids = known.list().map(({ metadata }) => metadata.uid);
        assert.deepEqual(uids, expected, row.map(([what]) => what).join('\n'));
      }
    });
});

const { signal } = new AbortController();
const mine = examplePod();
const stranger = examplePod(({ metadata }) => void (metadata.uid = 'uid-2'));

/** A server with fixed responses, which records the requests. */
const serverOf = (get: Live<Pod> | KubeError, list: Live<Pod>[] | KubeError = new KubeError('timeout', 'no list')) => {
  const asked: string[] = [];
  const client = {
    get: async (...[, { namespace, name }]: Parameters<Client['get']>) => {
      asked.push(`get ${namespace}/${name}`);
      if (get instanceof KubeError) throw get;
      return get;
    },
    list: async (...[, options]: Parameters<Client['list']>) => {
      asked.push(`list ${options?.fieldSelector}`);
      if (list instanceof KubeError) throw list;
      return { items: list, resourceVersion: '9' };
    },
  } as unknown as Client;
  return {
    asked,
    find: () => getLivePod(client, 'mac-1', { namespace: 'runners', name: 'runner-1', uid: 'uid-1' }, signal),
    client,
  };
};
const error = (reason: KubeError['reason']): KubeError => new KubeError(reason, `the server says ${reason}`);

describe('a live read of a Pod', () => {
  it('finds the Pod by name', async () => {
    const { asked, find } = serverOf(mine);
    assert.equal(await find(), mine);
    assert.deepEqual(asked, ['get runners/runner-1']);
  });

  it('returns undefined when the name is not found or belongs to another UID', async () => {
    assert.equal(await serverOf(error('notFound')).find(), undefined);
    assert.equal(await serverOf(stranger).find(), undefined);
  });

  it('falls back to listing the Pods of the Node when the GET is forbidden', async () => {
    const there = serverOf(error('forbidden'), [stranger, mine]);
    assert.equal(await there.find(), mine);
    assert.deepEqual(there.asked, ['get runners/runner-1', 'list spec.nodeName=mac-1']);
    assert.equal(await serverOf(error('forbidden'), [stranger]).find(), undefined);
  });

  it('rejects when the API server does not answer', async () => {
    await assert.rejects(serverOf(error('unreachable'), []).find(), /unreachable/);
    await assert.rejects(serverOf(error('forbidden'), error('forbidden')).find(), /forbidden/);
  });

  it('finds the Pod by UID alone', async () => {
    const { asked, client } = serverOf(error('timeout'), [stranger, mine]);
    assert.equal(await getLivePodByUid(client, 'mac-1', 'uid-1', signal), mine);
    assert.equal(await getLivePodByUid(client, 'mac-1', 'uid-3', signal), undefined);
    assert.deepEqual(asked, ['list spec.nodeName=mac-1', 'list spec.nodeName=mac-1']);
  });
});
