import type { RunnerPool } from '@tartan/api';
import { isOlderResourceVersion, keyOf, type Live } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import { createGitHubHealth, type GitHubHealth } from './github/health.ts';
import { createMutationCache, type MutationCache } from './mutation-cache.ts';
import type { WaitingJobs } from './status/conditions.ts';

/** What this process knows of a pool beyond the server's state. It may be lost: it only saves calls and waiting. */
export interface PoolMemory {
  readonly mutations: MutationCache;
  readonly health: GitHubHealth;
  /** Jobs that waited at the last poll of GitHub. Undefined: unknown. */
  queue: WaitingJobs | undefined;
  /** Runners at GitHub without a Pod at the last sweep, by ID: when that was first seen. */
  orphanedSince: ReadonlyMap<number, number>;
  /** Runners that GitHub shows as offline, by ID: when that was first seen. */
  offlineSince: ReadonlyMap<number, number>;
  /** The newest release of the runner, by GitHub's last answer. */
  newestRunner: string | undefined;
  /** The latest state of the pool that this process has seen, or written. */
  pool: Live<RunnerPool>;
}

export type PoolMemories = ReturnType<typeof createPoolMemories>;

/** By key. A pool that was deleted and created again starts with an empty memory. */
export const createPoolMemories = (clock: Clock) => {
  const memories = new Map<string, PoolMemory>();
  return {
    of: (cached: Live<RunnerPool>): PoolMemory => {
      const key = keyOf(cached.metadata);
      const known = memories.get(key);
      if (known?.pool.metadata.uid === cached.metadata.uid) {
        if (!isOlderResourceVersion(cached.metadata.resourceVersion, known.pool.metadata.resourceVersion))
          known.pool = cached;
        return known;
      }
      const memory: PoolMemory = {
        mutations: createMutationCache(clock.now),
        health: createGitHubHealth(clock.now),
        queue: undefined,
        orphanedSince: new Map(),
        offlineSince: new Map(),
        newestRunner: undefined,
        pool: cached,
      };
      memories.set(key, memory);
      return memory;
    },
    forget: (key: string): void => void memories.delete(key),
    keys: (): Iterable<string> => memories.keys(),
  };
};
