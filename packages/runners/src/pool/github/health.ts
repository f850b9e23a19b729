import type { Problem, RunnerService } from '@tartan/github';
import { backoffMs } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import type { PoolMemory } from '../memory.ts';
import type { GitHubProblem } from '../status/conditions.ts';
import type { ServiceForPool } from './service-for-pool.ts';

/** Not asked again before `retryAt`. */
type GitHubFailure = Problem & { readonly retryAt: number };

/** The results of the last calls to GitHub. */
export interface GitHubHealth {
  /** Kept until a call succeeds, also when `retryAt` has passed. */
  readonly lastFailure: GitHubFailure | undefined;
  /** The last failure, as long as `retryAt` has not passed. */
  activeFailure(): GitHubFailure | undefined;
  recordFailure(problem: Problem): void;
  /** `reading`: says nothing about what the App may change. */
  recordSuccess(kind: 'reading' | 'writing'): void;
}

const backoff = { baseMs: 15_000, maxMs: 2 * 60_000 };
/** A person has to change the App first. */
const deniedDelayMs = 60_000;

export const createGitHubHealth = (now: () => number): GitHubHealth => {
  let lastFailure: GitHubFailure | undefined;
  let failures = 0;
  const delayOf = ({ reason }: Problem): number => (reason === 'Denied' ? deniedDelayMs : backoffMs(backoff, failures));
  const activeFailure = (): GitHubFailure | undefined =>
    lastFailure !== undefined && now() < lastFailure.retryAt ? lastFailure : undefined;
  return {
    get lastFailure() {
      return lastFailure;
    },
    activeFailure,
    recordFailure: (problem) => {
      // Concurrent calls fail for the same cause: that counts once.
      if (activeFailure() === undefined) failures += 1;
      lastFailure = { ...problem, retryAt: Math.max(problem.retryAt ?? 0, now() + delayOf(problem)) };
    },
    recordSuccess: (kind) => {
      if (kind === 'reading' && lastFailure?.reason === 'Denied') return;
      lastFailure = undefined;
      failures = 0;
    },
  };
};

/**
 * Records the result of each call, and sends none while a failure is active. `background` calls have a smaller share of GitHub's limits: that
 * one is refused does not mean that runners cannot be created.
 */
const withHealth = (service: RunnerService, health: GitHubHealth): RunnerService => {
  const through = async <Answer extends { readonly kind: string }>(
    kind: 'background' | 'reading' | 'writing',
    call: () => Promise<Answer | Problem>,
  ): Promise<Answer | Problem> => {
    const failure = health.activeFailure();
    if (failure !== undefined) return failure;
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
    list: (call) => through('background', () => service.list(call)),
    queue: (labels, call) => through('background', () => service.queue(labels, call)),
    newestRunner: (call) => through('background', () => service.newestRunner(call)),
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
    const { reason, message, retryAt } = lastFailure;
    // The time of a back-off changes with every attempt, and would be written to the status each time.
    const problem = { reason, message, ...(reason === 'RateLimited' && { retryAt }) };
    return health.activeFailure() === undefined
      ? { service: ours, problem, retryAt: undefined }
      : { service: undefined, problem, retryAt };
  };
};
