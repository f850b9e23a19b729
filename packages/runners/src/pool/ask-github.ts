import type { RunnerService } from '@tartan/github';
import type { Clock } from '@tartan/kube/clock';
import type { GitHubAccounts } from '../github-accounts/create-github-accounts.ts';
import type { GitHubProblem } from './conditions.ts';
import type { PoolMemory } from './memory.ts';
import { watched } from './trouble.ts';

/** How GitHub is asked for a pool. */
export interface GitHubOfPool {
  /** Undefined: there is nobody to ask. */
  readonly service: RunnerService | undefined;
  readonly problem: GitHubProblem | undefined;
  /** When it is worth another try, if something is wrong. */
  readonly againAt: number | undefined;
}

/** The Secret of an App is looked at again after that. */
const mendedMs = 30_000;

export const askGitHub = async (
  { services, clock }: { services: GitHubAccounts; clock: Clock },
  { pool, health }: PoolMemory,
  signal: AbortSignal,
): Promise<() => GitHubOfPool> => {
  const nobody = { service: undefined, problem: undefined, againAt: undefined };
  if (pool.spec.github === undefined) return () => nobody;
  const service = await services(pool, signal);
  if ('problem' in service) {
    const problem = { reason: 'AppSecretInvalid', message: service.problem } as const;
    return () => ({ service: undefined, problem, againAt: clock.now() + mendedMs });
  }
  const ours = watched(service, health);
  return () => {
    const { trouble } = health;
    if (trouble === undefined) return { ...nobody, service: ours };
    const { reason, message, until } = trouble;
    // A time that moves with every try would be written with every try.
    const problem = { reason, message, ...(reason === 'RateLimited' && { retryAt: until }) };
    const isOver = clock.now() >= until;
    return { service: isOver ? ours : undefined, problem, againAt: isOver ? undefined : until };
  };
};
