import { finalizers, labels, runnerPool } from '@tartan/api';
import { addFinalizer, getControllerOf, pods, removeFinalizer } from '@tartan/kube';
import { decide } from '../decide.ts';
import { liveReadNode } from '../observe.ts';
import { podFacts, poolFacts, unscheduledNode } from '../snapshot.ts';
import { type ActContext, leaderCallOptions } from './context.ts';

/** Before the first Pod, so that a pool never goes while one of its Pods has a job. */
export const addPoolFinalizer = async (context: ActContext): Promise<void> => {
  const { memory, deps } = context;
  const options = leaderCallOptions(context);
  memory.pool = await addFinalizer(deps.client, runnerPool.resource, memory.pool, finalizers.runnerPool, options);
};

/**
 * Lets a pool go. With it go all its Pods, so these are read from the server once more, and judged by the same rules.
 */
export const removePoolFinalizer = async (context: ActContext): Promise<void> => {
  const { memory, deps, signal } = context;
  const { pool } = memory;
  const { name, namespace = '', uid } = pool.metadata;
  const labelSelector = `${labels.runnerPool}=${name}`;
  const { items } = await deps.client.list(pods, { namespace, labelSelector, signal });
  const facts = await Promise.all(
    items
      .filter((pod) => getControllerOf(pod)?.uid === uid)
      .map(async (pod) => {
        const node = pod.spec?.nodeName;
        const there = node === undefined ? unscheduledNode(pod) : await liveReadNode(deps.client, node, signal);
        return podFacts(pod, pool.spec.image, there);
      }),
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
  deps.log.info('The pool has nothing left that could have a job, and goes', { namespace, name });
};
