import { createSemaphore, isKubeError, type Live } from '@tartan/kube';
import type { ActContext } from './act/context.ts';
import { createRunner, register } from './act/create.ts';
import { addPoolFinalizer, removePoolFinalizer } from './act/finalizer.ts';
import { reap } from './act/reap.ts';
import { deleteServiceAccount, removePod } from './act/remove.ts';
import { retire } from './act/retire.ts';
import type { Plan } from './decide.ts';
import type { Observation } from './observe.ts';
import type { Pod } from './snapshot.ts';

export type Limiter = ReturnType<typeof createLimiter>;

/**
 * Runs a limited number of calls at a time, and collects their failures.
 *
 * Guarantees: a failed call does not stop the others, unless the server is unavailable: then the calls that have not begun are left for the
 * next pass, since each would wait for its own deadline.
 */
const createLimiter = (maxConcurrent: number) => {
  const failures: unknown[] = [];
  const semaphore = createSemaphore(maxConcurrent);
  let isStopped = false;
  return {
    failures,
    /** Never rejects. Undefined: it failed, or was not begun. */
    run: <T>(work: () => Promise<T>): Promise<T | undefined> =>
      semaphore(async () => {
        try {
          return isStopped ? undefined : await work();
        } catch (error) {
          failures.push(error);
          isStopped ||= isServerUnavailable(error);
          return undefined;
        }
      }),
  };
};

const isServerUnavailable = (error: unknown): boolean =>
  isKubeError(error, 'unreachable', 'timeout', 'serverError', 'tooManyRequests', 'unauthorized', 'aborted') ||
  (error instanceof Error && error.name === 'NotLeadingError');

const maxConcurrentActs = 8;

/** Carries out a plan concurrently; the finalizer is added first and removed last. Returns the failures. */
export const executePlan = async (
  context: ActContext,
  plan: Plan,
  { pods, accounts }: Observation,
): Promise<readonly unknown[]> => {
  const limiter = createLimiter(maxConcurrentActs);
  if (plan.addFinalizer) {
    await limiter.run(() => addPoolFinalizer(context));
    if (limiter.failures.length > 0) return limiter.failures;
  }
  const known = (uids: readonly string[]): Live<Pod>[] => uids.flatMap((uid) => pods.get(uid) ?? []);
  const each = <Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<unknown>[] =>
    items.map((item) => limiter.run(() => work(item)));
  await Promise.all([
    ...each(Array.from({ length: plan.create }), () => createRunner(context)),
    reap(context, limiter, known(plan.reap)),
    ...each(known(plan.register), (pod) => register(context, pod)),
    ...plan.retire.flatMap(({ uid, reason }) => each(known([uid]), (pod) => retire(context, pod, reason))),
    ...plan.remove.flatMap(({ uid, reason }) => each(known([uid]), (pod) => removePod(context, pod, reason))),
    ...each(
      plan.removeAccounts.flatMap((name) => accounts.get(name) ?? []),
      (account) => deleteServiceAccount(context, account),
    ),
  ]);
  if (plan.removeFinalizer && limiter.failures.length === 0) await limiter.run(() => removePoolFinalizer(context));
  return limiter.failures;
};
