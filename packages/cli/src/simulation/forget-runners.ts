import { labels, runnerPool } from '@tartan/api';
import { type Client, isKubeError, pods, secrets, serviceAccounts } from '@tartan/kube';
import { sleep, systemClock as clock } from '@tartan/kube/clock';
import { fleetNamespace as namespace } from './control-plane.ts';
import { poolName } from './runner-pool.ts';

const lookEveryMs = 200;
const patienceMs = 60_000;

const unlessGone = async (removal: Promise<unknown>): Promise<void> => {
  try {
    await removal;
  } catch (error) {
    if (!isKubeError(error, 'notFound')) throw error;
  }
};

/**
 * Takes the pool and all that it made out of a cluster that goes on without us. Its controller has ended by now, and with it the
 * promise to wait for jobs: the Macs that they run on are about to go, too.
 */
export const forgetRunners = async (client: Client): Promise<void> => {
  const pool = { namespace, name: poolName };
  await unlessGone(client.delete(runnerPool.resource, pool));
  const finalizers = { metadata: { finalizers: [] } };
  await unlessGone(client.patch(runnerPool.resource, pool, { type: 'merge', body: finalizers }));
  const selection = { namespace, labelSelector: `${labels.runnerPool}=${poolName}` };
  const patience = AbortSignal.timeout(patienceMs);
  for (;;) {
    const { items } = await client.list(pods, selection);
    if (items.length === 0) return;
    if (patience.aborted) throw new Error(`${items.length} runner Pods were deleted and do not go: see their Nodes.`);
    for (const { metadata } of items) {
      const which = { namespace, name: metadata.name };
      if (metadata.deletionTimestamp === undefined) await unlessGone(client.delete(pods, which));
      await unlessGone(client.delete(secrets, which));
      await unlessGone(client.delete(serviceAccounts, which));
    }
    await sleep(clock, lookEveryMs, patience);
  }
};
