import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Client, KubeError, type Live } from '@tartan/kube';
import { deletePod, removeFinalizer } from './act-on-server.ts';
import type { Acted, Scene } from './acted.ts';
import { createKnownPods, type KnownPods } from './known-pods.ts';
import type { Pod } from './snapshot.ts';
import { examplePod } from './testing/example.ts';

type Answers = Partial<Record<'delete' | 'get' | 'patch', () => Live<Pod> | undefined>>;

const pod = examplePod((each) => void (each.metadata.deletionTimestamp = '2026-06-01T12:00:00Z'));
const later = examplePod((each) => void (each.metadata.resourceVersion = '8'));
const namesake = examplePod((each) => void (each.metadata.uid = 'uid-2'));
const refuse = (reason: 'notFound' | 'conflict' | 'serverError') => (): never => {
  throw new KubeError(reason, 'for the test');
};

/** One act for a Pod that the watch has brought, on a server that answers like this. */
const acting = async (
  act: (scene: Scene, pod: Live<Pod>) => Promise<Acted>,
  answers: (known: KnownPods) => Answers,
): Promise<string> => {
  const known = createKnownPods();
  known.watched(pod);
  const { delete: deleted, get, patch } = answers(known);
  const client = {
    delete: async () => deleted?.(),
    get: async () => get?.(),
    patch: async () => patch?.(),
  } as unknown as Client;
  const { signal } = new AbortController();
  const scene = { uid: 'uid-1', memory: { known }, world: { client, nodeName: 'mac-1' }, signal } as unknown as Scene;
  const { kind } = await act(scene, pod);
  return `${kind}, ${known.get('uid-1') ? 'known' : 'forgotten'}`;
};

const table: [string, typeof deletePod, (known: KnownPods) => Answers, string][] = [
  ['a deleted Pod is forgotten', deletePod, () => ({ delete: () => undefined }), 'look again, forgotten'],
  ['one that others hold stays', deletePod, () => ({ delete: () => later }), 'rest, known'],
  ['one that is not found is forgotten', deletePod, () => ({ delete: refuse('notFound') }), 'look again, forgotten'],
  [
    'one whose name another has is forgotten',
    deletePod,
    () => ({ delete: refuse('conflict'), get: () => namesake }),
    'look again, forgotten',
  ],
  [
    'a conflict that is none of the name stays',
    deletePod,
    () => ({ delete: refuse('conflict'), get: () => later }),
    'rest, known',
  ],
  ['a finalizer is removed', removeFinalizer, () => ({ patch: () => later }), 'changed, known'],
  [
    'of a Pod that is not found: it is forgotten',
    removeFinalizer,
    () => ({ patch: refuse('notFound') }),
    'look again, forgotten',
  ],
  [
    'of a Pod whose end the watch tells before the answer comes: it stays forgotten',
    removeFinalizer,
    (known) => ({
      patch: () => {
        known.removed('uid-1');
        return later;
      },
    }),
    'look again, forgotten',
  ],
  [
    'of a Pod that somebody wrote to, and whose end the watch tells before that is read: it stays forgotten',
    removeFinalizer,
    (known) => ({
      patch: refuse('conflict'),
      get: () => {
        known.removed('uid-1');
        return later;
      },
    }),
    'look again, forgotten',
  ],
];

describe('what the agent knows after an act on the server', () => {
  for (const [sentence, act, answers, expected] of table)
    it(sentence, async () => assert.equal(await acting(act, answers), expected));

  it('a server that does not answer changes nothing: the act is tried again', () =>
    assert.rejects(
      acting(deletePod, () => ({ delete: refuse('serverError') })),
      { reason: 'serverError' },
    ));
});
