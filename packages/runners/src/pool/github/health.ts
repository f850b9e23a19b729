import type { Problem, RunnerService } from '@tartan/github';
import type { Clock } from '@tartan/kube/clock';
import type { PoolMemory } from '../memory.ts';
import type { GitHubProblem } from '../status/conditions.ts';
import type { ServiceForPool } from './service-for-pool.ts';

/** Why GitHub is not asked, and until when. The words are those of the condition GitHubReachable. */
interface GitHubFailure {
  readonly reason: 'AppSecretInvalid' | Problem['reason'];
  /** What, why, and what to do. */
  readonly message: string;
  /** Milliseconds since the epoch: when it is worth another try. */
  readonly until: number;
}

/** What the last calls to GitHub came to. */
export interface GitHubHealth {
  /** The last trouble, also when its time is over: until something works, nothing is known to. */
  readonly lastFailure: GitHubFailure | undefined;
  /** The trouble that lasts. */
  activeFailure(): GitHubFailure | undefined;
  recordFailure(problem: Problem): void;
  /** A call has worked. `reading`: only looked, which says nothing about what the App may change. */
  recordSuccess(kind: 'reading' | 'writing'): void;
}

const firstPauseMs = 15_000;
const longestPauseMs = 2 * 60_000;
/** Somebody has to mend the App first. */
const deniedPauseMs = 60_000;

export const createGitHubHealth = (now: () => number): GitHubHealth => {
  let trouble: GitHubFailure | undefined;
  let failures = 0;
  const pauseOf = ({ reason }: Problem): number =>
    reason === 'Denied' ? deniedPauseMs : Math.min(firstPauseMs * 2 ** (failures - 1), longestPauseMs);
  return {
    get lastFailure() {
      return trouble;
    },
    activeFailure: () => (trouble !== undefined && now() < trouble.until ? trouble : undefined),
    recordFailure: (problem) => {
      // Calls that were under way at the same time tell the same story once more.
      if (trouble === undefined || now() >= trouble.until) failures += 1;
      const { reason, message, retryAt } = problem;
      trouble = { reason, message, until: Math.max(retryAt ?? 0, now() + pauseOf(problem)) };
    },
    recordSuccess: (kind) => {
      if (kind === 'reading' && trouble?.reason === 'Denied') return;
      trouble = undefined;
      failures = 0;
    },
  };
};

/**
 * The service, which is not asked while there is trouble, and of which every answer is noted. What only looks (`watching`) has a smaller
 * share of GitHub's limits than what acts: that it is refused says nothing about whether runners can be made.
 */
const withHealth = (service: RunnerService, health: GitHubHealth): RunnerService => {
  const through = async <Answer extends { readonly kind: string }>(
    kind: 'watching' | 'reading' | 'writing',
    call: () => Promise<Answer | Problem>,
  ): Promise<Answer | Problem> => {
    const lasting = health.activeFailure();
    if (lasting !== undefined && lasting.reason !== 'AppSecretInvalid')
      return { kind: 'problem', reason: lasting.reason, message: lasting.message, retryAt: lasting.until };
    const answer = await call();
    if (isProblem(answer)) {
      if (kind === 'writing' || (kind === 'reading' && answer.reason !== 'Denied')) health.recordFailure(answer);
    } else health.recordSuccess(kind === 'writing' ? 'writing' : 'reading');
    return answer;
  };
  return {
    mint: (registration, call) => through('writing', () => service.mint(registration, call)),
    remove: (id, call) => through('writing', () => service.remove(id, call)),
    get: (id, call) => through('reading', () => service.get(id, call)),
    find: (name, call) => through('reading', () => service.find(name, call)),
    list: (call) => through('watching', () => service.list(call)),
    queue: (labels, call) => through('watching', () => service.queue(labels, call)),
    newestRunner: (call) => through('watching', () => service.newestRunner(call)),
    registrationToken: (call) => through('writing', () => service.registrationToken(call)),
  };
};

const isProblem = (answer: { readonly kind: string }): answer is Problem => answer.kind === 'problem';

/** How GitHub is asked for a pool. */
export interface GitHubAccess {
  /** Undefined: there is nobody to ask. */
  readonly service: RunnerService | undefined;
  readonly problem: GitHubProblem | undefined;
  /** When it is worth another try, if something is wrong. */
  readonly retryAt: number | undefined;
}

/** The Secret of an App is looked at again after that. */
const secretRecheckMs = 30_000;

export const githubAccessOf = async (
  { serviceForPool, clock }: { serviceForPool: ServiceForPool; clock: Clock },
  { pool, health }: PoolMemory,
  signal: AbortSignal,
): Promise<() => GitHubAccess> => {
  const noAccess = { service: undefined, problem: undefined, retryAt: undefined };
  if (pool.spec.github === undefined) return () => noAccess;
  const service = await serviceForPool(pool, signal);
  if ('problem' in service) {
    const problem = { reason: 'AppSecretInvalid', message: service.problem } as const;
    return () => ({ service: undefined, problem, retryAt: clock.now() + secretRecheckMs });
  }
  const ours = withHealth(service, health);
  return () => {
    const { lastFailure } = health;
    if (lastFailure === undefined) return { ...noAccess, service: ours };
    const { reason, message, until } = lastFailure;
    // A time that moves with every try would be written with every try.
    const problem = { reason, message, ...(reason === 'RateLimited' && { retryAt: until }) };
    const isOver = clock.now() >= until;
    return { service: isOver ? ours : undefined, problem, retryAt: isOver ? undefined : until };
  };
};
