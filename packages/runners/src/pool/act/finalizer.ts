import { finalizers, labels, runnerPool } from '@tartan/api';
import { addFinalizer, getController, pods, removeFinalizer } from '@tartan/kube';
import { decide } from '../decide.ts';
import { podFacts, poolFacts, unbound } from '../facts.ts';
import { lookAtNode } from '../observe.ts';
import { type Act, whileLeading } from './act.ts';

/** Before the first Pod, so that a pool never goes while one of its Pods has a job. */
export const holdPool = async (act: Act): Promise<void> => {
  const { memory, world } = act;
  const options = whileLeading(act);
  memory.pool = await addFinalizer(world.client, runnerPool.resource, memory.pool, finalizers.runnerPool, options);
};

/**
 * Lets a pool go. With it go all its Pods, so these are read from the server once more, and judged by the same rules.
 */
export const letPoolGo = async (act: Act): Promise<void> => {
  const { memory, world, signal } = act;
  const { pool } = memory;
  const { name, namespace = '', uid } = pool.metadata;
  const labelSelector = `${labels.runnerPool}=${name}`;
  const { items } = await world.client.list(pods, { namespace, labelSelector, signal });
  const facts = await Promise.all(
    items
      .filter((pod) => getController(pod)?.uid === uid)
      .map(async (pod) => {
        const node = pod.spec?.nodeName;
        const there = node === undefined ? unbound(pod) : await lookAtNode(world.client, node, signal);
        return podFacts(pod, pool.spec.image, there);
      }),
  );
  const snapshot = {
    now: world.clock.now(),
    pool: poolFacts(pool),
    pods: facts,
    idleAccounts: [],
    github: 'unusable',
  } as const;
  if (!decide(snapshot, world.limits).removeFinalizer) return;
  const options = whileLeading(act);
  await removeFinalizer(world.client, runnerPool.resource, pool, finalizers.runnerPool, options);
  world.log.info('The pool has nothing left that could have a job, and goes', { namespace, name });
};
