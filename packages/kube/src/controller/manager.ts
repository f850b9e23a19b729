import { type Clock, sleep } from '../clock/clock.ts';
import { untilAborted } from '../errors/abort-signal.ts';
import type { HealthChecks } from '../health/healthz.ts';
import type { Logger } from '../logs/logger.ts';
import { createLeaderRunnable, type LeaderElector } from './leader-runnables.ts';
import { type Runnable, type StartedRunnable, startRunnable, stopRunnables } from './runnable.ts';

export interface ManagerOptions {
  caches: NamedCaches;
  /** Run on every replica. */
  controllers?: readonly Runnable[];
  /** Run on the leader. */
  leaderOnly?: readonly Runnable[];
  /** Without it, this process always leads. */
  leaderElection?: LeaderElector;
  /** The manager adds its own checks. */
  readyz?: HealthChecks;
  clock: Clock;
  log: Logger;
  /** Deadline for the first lists. 2 min by default, as in controller-runtime. */
  syncDeadlineMs?: number;
}

export type ManagerResult = { ok: true } | { ok: false; reason: string };

type ManagerState =
  /** Not run yet. Goes to `syncing`. */
  | 'idle'
  /** Caches list. Goes to `working` when all are synced, to `stopping` on a failure or when the signal fires. */
  | 'syncing'
  /** Controllers run; leader-only ones while this process leads. Goes to `stopping` on a failure or when the signal fires. */
  | 'working'
  /** Controllers, then caches stop. Goes to `ended` when they have stopped, or at the deadline. */
  | 'stopping'
  /** `run` has resolved. Final. */
  | 'ended';

export interface Manager {
  readonly state: ManagerState;
  /** Call once. Resolves when everything has stopped: because `signal` fired or a part failed. Never rejects. */
  run(signal: AbortSignal): Promise<ManagerResult>;
}

/** Total time for stopping. Kubernetes kills the Pod after 30 s. */
const stopDeadlineMs = 25_000;
/** Minimum for caches to close their connections, even past the deadline. */
const minStopMs = 1000;

/** Starts its parts in order, stops them in reverse, and stops as a whole when one of them ends. */
export const createManager = (options: ManagerOptions): Manager => {
  const { caches, controllers = [], leaderOnly = [], readyz, clock, log } = options;
  const { syncDeadlineMs = 120_000 } = options;
  let state: ManagerState = 'idle';
  const over = new AbortController();
  const failures: string[] = [];
  const stages: StartedRunnable[][] = [];

  const fail = (reason: string, error?: unknown): void => {
    failures.push(reason);
    log.error('A part failed; everything stops', { reason, ...(error !== undefined && { error }) });
    over.abort();
  };
  const move = (to: ManagerState): void => {
    state = to;
    log.info('The manager moves on', { state });
  };
  const start = (...runnables: readonly Runnable[]): void => {
    if (!over.signal.aborted) stages.push(runnables.map((runnable) => startRunnable(runnable, fail)));
  };

  const sync = async (): Promise<void> => {
    move('syncing');
    start(
      ...Object.entries(caches).map(([name, cache]) => ({
        name: `cache ${name}`,
        run: (signal: AbortSignal) => cache.run(signal),
      })),
    );
    await waitForCaches({ caches, clock, log, deadlineMs: syncDeadlineMs }, over.signal);
    const missing = over.signal.aborted ? [] : unsyncedCaches(caches);
    if (missing.length > 0)
      fail(
        `caches are not synced after ${syncDeadlineMs / 1000} s: ${missing.join('; ')}. Check that the API server can be reached, that these kinds exist on it, and that this identity may list and watch them`,
      );
  };

  const work = async (): Promise<void> => {
    if (over.signal.aborted) return;
    move('working');
    const { leaderElection } = options;
    const lead = {
      leaderOnly,
      leaderElection,
      stopMs: stopDeadlineMs - minStopMs,
      clock,
      log,
      fail,
    };
    start(...controllers, ...(leaderOnly.length > 0 || leaderElection ? [createLeaderRunnable(lead)] : []));
    await untilAborted(over.signal);
  };

  const stop = async (): Promise<void> => {
    move('stopping');
    const deadline = clock.monotonic() + stopDeadlineMs;
    for (const stage of stages.reverse()) {
      const left = await stopRunnables(clock, stage, Math.max(deadline - clock.monotonic(), minStopMs));
      if (left.length > 0) fail(`not everything stopped in time: ${left.join('; ')}`);
    }
    move('ended');
  };

  const checks = (): void => {
    readyz?.set('manager', () => (state === 'working' ? undefined : `the manager is ${state}`));
    readyz?.set('caches', () => {
      const missing = unsyncedCaches(caches);
      return missing.length === 0 ? undefined : `not synced: ${missing.join('; ')}`;
    });
  };

  return {
    get state() {
      return state;
    },
    run: async (signal) => {
      if (state !== 'idle') return { ok: false, reason: `the manager can be run once, and is ${state}` };
      const end = (): void => over.abort();
      if (signal.aborted) end();
      signal.addEventListener('abort', end, { once: true });
      checks();
      await sync();
      await work();
      await stop();
      signal.removeEventListener('abort', end);
      const [reason] = failures;
      return reason === undefined ? { ok: true } : { ok: false, reason };
    },
  };
};

/** The manager's view of an informer. */
interface ManagedCache {
  readonly synced: Promise<void>;
  readonly hasSynced: boolean;
  readonly lastError: Error | undefined;
  run(signal: AbortSignal): Promise<void>;
}

type NamedCaches = Readonly<Record<string, ManagedCache>>;

/** The caches without their first list, each with its last error. */
const unsyncedCaches = (caches: NamedCaches): string[] =>
  Object.entries(caches)
    .filter(([, cache]) => !cache.hasSynced)
    .map(([name, { lastError }]) => `${name} (${lastError?.message ?? 'no answer to its first list yet'})`);

const syncLogIntervalMs = 10_000;

/** Resolves when all caches are synced, at the deadline, or when the signal fires. Logs the missing caches every ten seconds. */
const waitForCaches = async (
  { caches, clock, log, deadlineMs }: { caches: NamedCaches; clock: Clock; log: Logger; deadlineMs: number },
  signal: AbortSignal,
): Promise<void> => {
  const enough = new AbortController();
  const finish = (): void => enough.abort();
  if (signal.aborted) return;
  signal.addEventListener('abort', finish, { once: true });
  void Promise.all(Object.values(caches).map((cache) => cache.synced)).then(finish);
  const deadline = clock.monotonic() + deadlineMs;
  for (let left = deadlineMs; left > 0 && !enough.signal.aborted; left = deadline - clock.monotonic()) {
    await sleep(clock, Math.min(left, syncLogIntervalMs), enough.signal);
    if (!enough.signal.aborted) log.warn('Caches are not synced yet', { missing: unsyncedCaches(caches) });
  }
  signal.removeEventListener('abort', finish);
};
