import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KubeError } from '../errors/kube-error.ts';
import { NotLeadingError } from '../leader/gate.ts';
import { done, requeueAfter } from './reconcile.ts';
import { requeueOnConflict } from './requeue-on-conflict.ts';

const reconcileWith = (error: Error) =>
  requeueOnConflict(async () => {
    throw error;
  })('a', new AbortController().signal);

test('a conflict and a closed gate requeue the key', async () => {
  for (const reason of ['conflict', 'alreadyExists'] as const)
    assert.deepEqual(await reconcileWith(new KubeError(reason, 'no')), requeueAfter(1000));
  assert.deepEqual(await reconcileWith(new NotLeadingError('lease', 'no')), requeueAfter(10_000));
});

test('any other error and every result pass through', async () => {
  for (const error of [new KubeError('notFound', 'no'), new Error('no')])
    await assert.rejects(reconcileWith(error), error);
  assert.equal(await requeueOnConflict(async () => done)('a', new AbortController().signal), done);
});
