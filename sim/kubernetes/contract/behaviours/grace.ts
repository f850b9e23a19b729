import assert from 'node:assert/strict';
import type { KubeObject } from '../../src/object.ts';
import { behaviour, topic } from '../behaviour.ts';
import { objectIn } from '../cluster.ts';
import { includes } from '../expect.ts';
import { pod } from '../objects.ts';
import { readyForPods } from '../pods.ts';
import type { Trial } from '../trial.ts';

const secondsUntil = (object: KubeObject): number =>
  (Date.parse(object.metadata.deletionTimestamp ?? '') - Date.parse(object.metadata.creationTimestamp)) / 1000;

/** A Pod that some node could be running: only those have a grace period. */
const running = async (trial: Trial, spec: Record<string, unknown> = {}): Promise<string> => {
  const pods = await readyForPods(trial);
  // It tolerates everything, so that nobody evicts it because its node does not exist.
  await trial.create(
    pods,
    pod('a', { nodeName: trial.unique('ghost'), tolerations: [{ operator: 'Exists' }], ...spec }),
  );
  return `${pods}/a`;
};

const options = (fields: Record<string, unknown>): Record<string, unknown> => ({
  apiVersion: 'v1',
  kind: 'DeleteOptions',
  ...fields,
});

export const grace = topic('grace period', [
  behaviour('a Pod on a node gets its own grace period, and a deletion timestamp in the future', async (trial) => {
    const path = await running(trial);
    const answer = await trial.delete(path);
    assert.equal(answer.code, 200);
    includes(answer.json, { kind: 'Pod', metadata: { deletionGracePeriodSeconds: 30 } });
    assert.ok(secondsUntil(objectIn(answer)) >= 30);
    await trial.fetch(path);
  }),

  behaviour('the grace period of the request wins over that of the Pod', async (trial) => {
    const path = await running(trial, { terminationGracePeriodSeconds: 300 });
    const answer = await trial.delete(path, options({ gracePeriodSeconds: 7 }));
    includes(answer.json, { metadata: { deletionGracePeriodSeconds: 7 } });
  }),

  behaviour('a grace period may be shortened but not lengthened', async (trial) => {
    const path = await running(trial);
    await trial.remove(path, options({ gracePeriodSeconds: 100 }));
    await trial.remove(path, options({ gracePeriodSeconds: 200 }));
    includes(await trial.fetch(path), { metadata: { deletionGracePeriodSeconds: 100 } });
    await trial.remove(path, options({ gracePeriodSeconds: 50 }));
    includes(await trial.fetch(path), { metadata: { deletionGracePeriodSeconds: 50 } });
  }),

  behaviour('grace period 0 removes the Pod at once, and answers it', async (trial) => {
    const path = await running(trial);
    await trial.remove(path);
    const answer = await trial.delete(path, options({ gracePeriodSeconds: 0 }));
    assert.equal(answer.code, 200);
    includes(answer.json, { kind: 'Pod', metadata: { name: 'a' } });
    assert.equal((await trial.get(path)).code, 404);
  }),

  behaviour('a negative grace period is one second', async (trial) => {
    const path = await running(trial);
    const answer = await trial.delete(path, options({ gracePeriodSeconds: -5 }));
    includes(answer.json, { metadata: { deletionGracePeriodSeconds: 1 } });
  }),

  behaviour('a Pod that no node has is gone at once', async (trial) => {
    const pods = await readyForPods(trial);
    await trial.create(pods, pod('a'));
    await trial.remove(`${pods}/a`);
    assert.equal((await trial.get(`${pods}/a`)).code, 404);
  }),

  behaviour('a Pod that has ended is gone at once', async (trial) => {
    const path = await running(trial);
    await trial.edit(`${path}/status`, { status: { phase: 'Succeeded' } });
    await trial.remove(path);
    assert.equal((await trial.get(path)).code, 404);
  }),

  behaviour('a Pod with a finalizer outlives its grace period', async (trial) => {
    const path = await running(trial);
    await trial.edit(path, { metadata: { finalizers: ['example.com/hold'] } });
    await trial.remove(path, options({ gracePeriodSeconds: 0 }));
    includes(await trial.fetch(path), {
      metadata: { deletionGracePeriodSeconds: 0, finalizers: ['example.com/hold'] },
    });
    await trial.edit(path, { metadata: { finalizers: null } });
    assert.equal((await trial.get(path)).code, 404);
  }),

  behaviour('a Pod in its grace period is not removed by an update', async (trial) => {
    const path = await running(trial);
    await trial.edit(path, { metadata: { finalizers: ['example.com/hold'] } });
    await trial.remove(path);
    await trial.edit(path, { metadata: { finalizers: null } });
    await trial.fetch(path);
  }),
]);
