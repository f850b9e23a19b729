import type { Problem, RunnerService } from '@tartan/github';
import { backoffMs } from '@tartan/kube';
import type { PoolDeps } from '../act/context.ts';
import type { PoolMemory } from '../memory.ts';

/** Why GitHub does not accept registrations of a pool. */
export interface GitHubFailure {
  readonly reason: 'AppSecretInvalid' | Problem['reason'];
  /** What, why, and what to do. */
  readonly message: string;
  /** GitHub is not called before. */
  readonly retryAt: number;
}

export type GitHubHealth = ReturnType<typeof createGitHubHealth>;

const backoff = { baseMs: 15_000, maxMs: 2 * 60_000 };
/** A user has to change the App first. */
const deniedDelayMs = 60_000;

/** The results of the last calls to GitHub. */
export const createGitHubHealth = (now: () => number) => {
  let lastFailure: (Problem & GitHubFailure) | undefined;
  let failures = 0;
  const activeFailure = () => (lastFailure !== undefined && now() < lastFailure.retryAt ? lastFailure : undefined);
  return {
    /** Kept until a call succeeds, also when `retryAt` has passed. */
    lastFailure: (): GitHubFailure | undefined => lastFailure,
    /** The last failure, as long as `retryAt` has not passed. */
    activeFailure,
    recordFailure: (problem: Problem): void => {
      // Concurrent calls fail for the same cause: that counts once.
      if (activeFailure() === undefined) failures += 1;
      const delay = problem.reason === 'Denied' ? deniedDelayMs : backoffMs(backoff, failures);
      lastFailure = { ...problem, retryAt: Math.max(problem.retryAt ?? 0, now() + delay) };
    },
    /** `reading`: does not show that the App may write. */
    recordSuccess: (kind: 'reading' | 'writing'): void => {
      if (kind === 'reading' && lastFailure?.reason === 'Denied') return;
      lastFailure = undefined;
      failures = 0;
    },
  };
};

/**
 * Records the result of each call, and sends none while a failure is active. `background` calls have a smaller share of GitHub's limits:
 * that one is refused does not mean that runners cannot be created.
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

/** How long until the Secret of an App is read again. */
const secretRecheckMs = 30_000;

export type GitHubAccess = Awaited<ReturnType<typeof githubAccessOf>>;

/** The access of a pool to GitHub: `service` is undefined while GitHub should not be called, `failure` says why. */
export const githubAccessOf = async (
  { serviceForPool, clock }: PoolDeps,
  { pool, health }: PoolMemory,
  signal: AbortSignal,
) => {
  const found = pool.spec.github && (await serviceForPool(pool, signal));
  if (found === undefined || 'problem' in found) {
    const retryAt = clock.now() + secretRecheckMs;
    const failure: GitHubFailure | undefined = found && {
      reason: 'AppSecretInvalid',
      message: found.problem,
      retryAt,
    };
    return { service: () => undefined, failure: () => failure };
  }
  const service = withHealth(found, health);
  return {
    service: () => (health.activeFailure() === undefined ? service : undefined),
    failure: health.lastFailure,
  };
};
