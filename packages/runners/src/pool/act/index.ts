import type { Live } from '@tartan/kube';
import type { Observation } from '../observe.ts';
import type { Plan } from '../plan.ts';
import type { Act } from './act.ts';
import { removeAccount } from './accounts.ts';
import { createRunner } from './create.ts';
import { holdPool, letPoolGo } from './finalizer.ts';
import { createTurns } from './in-turns.ts';
import { reap } from './reap.ts';
import { register } from './register.ts';
import { remove } from './remove.ts';
import { retire } from './retire.ts';
import type { Pod } from '../objects.ts';

export type { Act, World } from './act.ts';

const atOnce = 8;

/**
 * Carries out a plan, all of it at the same time but for the finalizer, which comes first when it is put on and last when it goes. Answers
 * what went wrong.
 */
export const carryOut = async (act: Act, plan: Plan, { pods, accounts }: Observation): Promise<readonly unknown[]> => {
  const turns = createTurns(atOnce);
  if (plan.addFinalizer) {
    await turns.take(() => holdPool(act));
    if (turns.failures.length > 0) return turns.failures;
  }
  const known = (uids: readonly string[]): Live<Pod>[] => uids.flatMap((uid) => pods.get(uid) ?? []);
  const each = <Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<unknown>[] =>
    items.map((item) => turns.take(() => work(item)));
  await Promise.all([
    ...each(Array.from({ length: plan.create }), () => createRunner(act)),
    reap(act, turns, known(plan.reap)),
    ...each(known(plan.register), (pod) => register(act, pod)),
    ...plan.retire.flatMap(({ uid, because }) => each(known([uid]), (pod) => retire(act, pod, because))),
    ...plan.remove.flatMap(({ uid, because }) => each(known([uid]), (pod) => remove(act, pod, because))),
    ...each(
      plan.removeAccounts.flatMap((name) => accounts.get(name) ?? []),
      (account) => removeAccount(act, account),
    ),
  ]);
  if (plan.removeFinalizer && turns.failures.length === 0) await turns.take(() => letPoolGo(act));
  return turns.failures;
};
