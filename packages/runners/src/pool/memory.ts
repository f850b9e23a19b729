import type { RunnerPool } from '@tartan/api';
import { isOlderResourceVersion, keyOf, type Live } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import { createGitHubHealth, type GitHubHealth } from './github/health.ts';
import { createMutationCache, type MutationCache } from './mutation-cache.ts';
import type { WaitingJobs } from './status/conditions.ts';

/** What a process knows of a pool beside what is on the server. All of it may be lost: what it saves is a call, or a wait. */
export interface PoolMemory {
  readonly mutations: MutationCache;
  readonly health: GitHubHealth;
  /** Jobs that waited when GitHub was last asked. Undefined: nobody could tell. */
  queue: WaitingJobs | undefined;
  /** Runners at GitHub that had no Pod at the last sweep, by number: when they were first found so. */
  orphanedSince: ReadonlyMap<number, number>;
  /** Runners that GitHub shows as offline, by number: since when they are found so. */
  offlineSince: ReadonlyMap<number, number>;
  /** The newest release of the runner, as GitHub told last. */
  newestRunner: string | undefined;
  /** The latest state of the pool that this process has seen, or written. */
  pool: Live<RunnerPool>;
}

export interface PoolMemories {
  of(cached: Live<RunnerPool>): PoolMemory;
  forget(key: string): void;
}

/** By key; a pool that was deleted and made again under its name begins with nothing. */
export const createPoolMemories = (clock: Clock): PoolMemories => {
  const memories = new Map<string, PoolMemory>();
  return {
    of: (cached) => {
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
    forget: (key) => void memories.delete(key),
  };
};
