import { finalizers, labels, runnerPool } from '@tartan/api';
import { addFinalizer, getControllerOf, pods, removeFinalizer } from '@tartan/kube';
import { decide } from '../decide.ts';
import { liveReadNode } from '../observe.ts';
import { podFacts, poolFacts } from '../snapshot.ts';
import { type ActContext, leaderCallOptions } from './context.ts';

/** Added before the first Pod is created, so that a pool with a busy Pod is never deleted. */
export const addPoolFinalizer = async (context: ActContext): Promise<void> => {
  const { memory, deps } = context;
  const options = leaderCallOptions(context);
  memory.pool = await addFinalizer(deps.client, runnerPool.resource, memory.pool, finalizers.runnerPool, options);
};

/** Deleting the pool deletes all its Pods, so they are read live once more and checked by the same rules. */
export const removePoolFinalizer = async (context: ActContext): Promise<void> => {
  const { memory, deps, signal } = context;
  const { pool } = memory;
  const { name, namespace = '', uid } = pool.metadata;
  const labelSelector = `${labels.runnerPool}=${name}`;
  const { items } = await deps.client.list(pods, { namespace, labelSelector, signal });
  const facts = await Promise.all(
    items
      .filter((pod) => getControllerOf(pod)?.uid === uid)
      .map(async (pod) => podFacts(pod, pool.spec.image, await liveReadNode(deps.client, pod, signal))),
  );
  const snapshot = {
    now: deps.clock.now(),
    pool: poolFacts(pool),
    pods: facts,
    orphanedAccounts: [],
    github: 'unusable',
  } as const;
  if (!decide(snapshot, deps.limits).removeFinalizer) return;
  const options = leaderCallOptions(context);
  await removeFinalizer(deps.client, runnerPool.resource, pool, finalizers.runnerPool, options);
  deps.log.info('Removed the finalizer of a pool', { namespace, name });
};
