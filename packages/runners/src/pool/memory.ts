import type { RunnerPool } from '@tartan/api';
import { isOlder, keyOf, type Live } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import type { WaitingJobs } from './jobs-waiting.ts';
import { createOverlay, type Overlay } from './overlay.ts';
import { createGitHubHealth, type GitHubHealth } from './trouble.ts';

/** What a process knows of a pool beside what is on the server. All of it may be lost: what it saves is a call, or a wait. */
export interface PoolMemory {
  readonly pods: Overlay;
  readonly health: GitHubHealth;
  /** Jobs that waited when GitHub was last asked. Undefined: nobody could tell. */
  queue: WaitingJobs | undefined;
  /** Runners at GitHub that had no Pod at the last sweep, by number: when they were first found so. */
  orphans: ReadonlyMap<number, number>;
  /** Runners that GitHub shows as offline, by number: since when they are found so. */
  offline: ReadonlyMap<number, number>;
  /** The newest release of the runner, as GitHub told last. */
  newestRunner: string | undefined;
  /** The latest state of the pool that this process has seen, or written. */
  pool: Live<RunnerPool>;
}

export interface Memories {
  of(cached: Live<RunnerPool>): PoolMemory;
  forget(key: string): void;
}

/** By key; a pool that was deleted and made again under its name begins with nothing. */
export const createMemories = (clock: Clock): Memories => {
  const memories = new Map<string, PoolMemory>();
  return {
    of: (cached) => {
      const key = keyOf(cached.metadata);
      const known = memories.get(key);
      if (known?.pool.metadata.uid === cached.metadata.uid) {
        if (!isOlder(cached.metadata.resourceVersion, known.pool.metadata.resourceVersion)) known.pool = cached;
        return known;
      }
      const memory: PoolMemory = {
        pods: createOverlay(clock.now),
        health: createGitHubHealth(clock.now),
        queue: undefined,
        orphans: new Map(),
        offline: new Map(),
        newestRunner: undefined,
        pool: cached,
      };
      memories.set(key, memory);
      return memory;
    },
    forget: (key) => void memories.delete(key),
  };
};
