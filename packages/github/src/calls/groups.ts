import type { Clock } from '@tartan/kube/clock';
import { operations } from '../http/operations.ts';
import { senseless, unknownGroup } from '../problems.ts';
import type { Problem } from '../runner-service.ts';
import { groupsAnswer } from '../wire/answers.ts';
import { type Caller, problemIn } from './caller.ts';
import { followPages } from './follow-pages.ts';

/** `Default` of every organisation, and the only one that repositories have (`cdk-github-runners`, `token-retriever.lambda.ts`). */
const defaultGroup = { id: 1, name: 'Default' };
const goodFor = 10 * 60_000;
/** Soon enough for somebody who has just made the group, seldom enough for a pool that waits for it. */
const missingFor = 60_000;

/** Runner groups by their names. */
export interface Groups {
  idOf(group: string | undefined, signal: AbortSignal | undefined): Promise<{ readonly id: number } | Problem>;
  /** One of them was not as we thought. */
  forget(): void;
}

const isSame = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

export const createGroups = ({ ask, owner, ownerName, where }: Caller, clock: Clock): Groups => {
  let known: { readonly at: number; readonly groups: readonly { id: number; name: string }[] } | undefined;
  return {
    forget: () => {
      known = undefined;
    },
    idOf: async (group = defaultGroup.name, signal) => {
      if (isSame(group, defaultGroup.name)) return defaultGroup;
      const what = `tell the runner groups of ${ownerName}`;
      if (owner.kind === 'repository') return senseless(what, 'a repository has none. Leave the runner group out.');
      const age = clock.monotonic() - (known?.at ?? Number.NEGATIVE_INFINITY);
      const found = known?.groups.find(({ name }) => isSame(name, group));
      if (found !== undefined && age < goodFor) return found;
      if (age >= missingFor) {
        const asked = { operation: operations.groups, what, parameters: where, answer: groupsAnswer, signal };
        const all = await followPages(
          ask,
          { ...asked, isConditional: true },
          ({ total_count: total, runner_groups: items }) => ({ total, items }),
          10,
        );
        if (all.kind !== 'ok') return problemIn(all, what, ownerName);
        known = { at: clock.monotonic(), groups: all.value };
      }
      const groups = known?.groups ?? [];
      return (
        groups.find(({ name }) => isSame(name, group)) ??
        unknownGroup(
          group,
          ownerName,
          groups.map(({ name }) => name),
        )
      );
    },
  };
};
