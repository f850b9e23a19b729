import type { RunnerPool } from '@tartan/api';
import { again, type Outcome, settled, type WatchCache } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import type { GitHubAccounts } from '../github-accounts/create-github-accounts.ts';
import { askGitHub } from './ask-github.ts';
import type { WaitingJobs } from './jobs-waiting.ts';
import type { Memories } from './memory.ts';

export interface QueueLook {
  pools: Pick<WatchCache<RunnerPool>, 'get'>;
  services: GitHubAccounts;
  clock: Clock;
}

const everyMs = 30_000;
/** When nothing has changed, nothing is written for so long. */
const sameForMs = 5 * 60_000;

/** Asks GitHub now and then which jobs wait for the runners of a pool. `tell`: somebody should say so. */
export const lookAtQueue = async (
  look: QueueLook,
  memories: Memories,
  key: string,
  tell: (key: string) => void,
  signal: AbortSignal,
): Promise<Outcome> => {
  const pool = look.pools.get(key);
  if (pool?.spec.github === undefined || pool.metadata.deletionTimestamp !== undefined) return settled;
  const memory = memories.of(pool);
  const { service } = (await askGitHub(look, memory, signal))();
  const answer = await service?.queue(memory.pool.spec.runnerLabels, { signal });
  const next = answer?.kind === 'known' ? { ...answer.queue, observedAt: look.clock.now() } : undefined;
  if (!isNews(memory.queue, next)) return again(everyMs);
  memory.queue = next;
  tell(key);
  return again(everyMs);
};

const isNews = (before: WaitingJobs | undefined, after: WaitingJobs | undefined): boolean =>
  before === undefined || after === undefined
    ? before !== after
    : before.jobs !== after.jobs ||
      before.oldestSince !== after.oldestSince ||
      after.observedAt - before.observedAt >= sameForMs;
