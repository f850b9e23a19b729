import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Client, KubeError, type Live } from '@tartan/kube';
import type { ActionContext, ActionResult } from '../context.ts';
import type { Pod } from '../snapshot.ts';
import { examplePod } from '../testing/example.ts';
import { createPodCache, type PodCache } from './pod-cache.ts';
import { deletePod, removeFinalizer } from './pod-writes.ts';

type Answers = Partial<Record<'delete' | 'get' | 'patch', () => Live<Pod> | undefined>>;

const pod = examplePod((each) => void (each.metadata.deletionTimestamp = '2026-06-01T12:00:00Z'));
const later = examplePod((each) => void (each.metadata.resourceVersion = '8'));
const namesake = examplePod((each) => void (each.metadata.uid = 'uid-2'));
const refuse = (reason: 'notFound' | 'conflict' | 'serverError') => (): never => {
  throw new KubeError(reason, 'for the test');
};

/** One action for a Pod that the watch has delivered, on a server with these responses. */
const acting = async (
  act: (context: ActionContext, pod: Live<Pod>) => Promise<ActionResult>,
  answers: (known: PodCache) => Answers,
): Promise<string> => {
  const known = createPodCache();
  known.applyWatch(pod);
  const { delete: deleted, get, patch } = answers(known);
  const client = {
    delete: async () => deleted?.(),
    get: async () => get?.(),
    patch: async () => patch?.(),
  } as unknown as Client;
  const { signal } = new AbortController();
  const context = {
    uid: 'uid-1',
    podCache: known,
    deps: { client, nodeName: 'mac-1' },
    signal,
  } as unknown as ActionContext;
  const { kind } = await act(context, pod);
  return `${kind}, ${known.get('uid-1') ? 'known' : 'forgotten'}`;
};

const table: [string, typeof deletePod, (known: PodCache) => Answers, string][] = [
  ['a deleted Pod is forgotten', deletePod, () => ({ delete: () => undefined }), 'observe again, forgotten'],
  [
    'a deleted Pod with foreign finalizers stays in the cache',
    deletePod,
    () => ({ delete: () => later }),
    'done, known',
  ],
  [
    'a Pod that is not found is removed from the cache',
    deletePod,
    () => ({ delete: refuse('notFound') }),
    'observe again, forgotten',
  ],
  [
    'a Pod whose name belongs to another UID is removed from the cache',
    deletePod,
    () => ({ delete: refuse('conflict'), get: () => namesake }),
    'observe again, forgotten',
  ],
  [
    'a conflict with the same UID keeps the Pod in the cache',
    deletePod,
    () => ({ delete: refuse('conflict'), get: () => later }),
    'done, known',
  ],
  ['a finalizer is removed', removeFinalizer, () => ({ patch: () => later }), 'changed, known'],
  [
    'removing the finalizer of a Pod that is not found removes the Pod from the cache',
    removeFinalizer,
    () => ({ patch: refuse('notFound') }),
    'observe again, forgotten',
  ],
  [
    'a write response that arrives after the watch DELETED event does not bring the Pod back',
    removeFinalizer,
    (known) => ({
      patch: () => {
        known.applyWatchDelete('uid-1');
        return later;
      },
    }),
    'observe again, forgotten',
  ],
  [
    'a live read after a conflict does not bring back a Pod that the watch has deleted',
    removeFinalizer,
    (known) => ({
      patch: refuse('conflict'),
      get: () => {
        known.applyWatchDelete('uid-1');
        return later;
      },
    }),
    'observe again, forgotten',
  ],
];

describe('the Pod cache after a write to the API server', () => {
  for (const [sentence, act, answers, expected] of table)
    it(sentence, async () => assert.equal(await acting(act, answers), expected));

  it('an unreachable API server leaves the cache unchanged and the action is retried', () =>
    assert.rejects(
      acting(deletePod, () => ({ delete: refuse('serverError') })),
      { reason: 'serverError' },
    ));
});
