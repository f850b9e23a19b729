import type { Clock } from '@tartan/kube/clock';
import { listAllPages } from '../http/client.ts';
import { operations } from '../http/operations.ts';
import { groupsResponse, jitConfigResponse } from '../http/responses.ts';
import { invalidRequest, isProblem, missingPermission, unknownGroup } from '../problems.ts';
import type { Problem, Registration, RunnerService } from '../runner-service.ts';
import { type CallContext, problemFrom } from './call-context.ts';
import type { OwnerVisibility } from './runners.ts';

/** `Default` of every organisation, and the only one that repositories have (`cdk-github-runners`, `token-retriever.lambda.ts`). */
const defaultGroup = { id: 1, name: 'Default' };
const groupTTLMs = 10 * 60_000;
/** Soon enough for somebody who has just made the group, seldom enough for a pool that waits for it. */
const missingGroupTTLMs = 60_000;

/** Runner groups by their names. */
interface RunnerGroups {
  idOf(group: string | undefined, signal: AbortSignal | undefined): Promise<{ readonly id: number } | Problem>;
  /** One of them was not as we thought. */
  forget(): void;
}

const isSameName = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

export const createRunnerGroups = (
  { callApi, owner, ownerName, pathParameters }: CallContext,
  clock: Clock,
): RunnerGroups => {
  let known: { readonly at: number; readonly groups: readonly { id: number; name: string }[] } | undefined;
  return {
    forget: () => {
      known = undefined;
    },
    idOf: async (group = defaultGroup.name, signal) => {
      if (isSameName(group, defaultGroup.name)) return defaultGroup;
      const what = `tell the runner groups of ${ownerName}`;
      if (owner.kind === 'repository')
        return invalidRequest(what, 'a repository has none. Leave the runner group out.');
      const age = clock.monotonic() - (known?.at ?? Number.NEGATIVE_INFINITY);
      const found = known?.groups.find(({ name }) => isSameName(name, group));
      if (found !== undefined && age < groupTTLMs) return found;
      if (age >= missingGroupTTLMs) {
        const asked = {
          operation: operations.groups,
          what,
          parameters: pathParameters,
          answer: groupsResponse,
          signal,
        };
        const all = await listAllPages(
          callApi,
          { ...asked, isConditional: true },
          ({ total_count: total, runner_groups: items }) => ({ total, items }),
          10,
        );
        if (all.kind !== 'ok') return problemFrom(all, what, ownerName);
        known = { at: clock.monotonic(), groups: all.value };
      }
      const groups = known?.groups ?? [];
      return (
        groups.find(({ name }) => isSameName(name, group)) ??
        unknownGroup(
          group,
          ownerName,
          groups.map(({ name }) => name),
        )
      );
    },
  };
};

const maxNameLength = 64;
const maxLabels = 100;

/** What GitHub would refuse. Nothing is asked then. */
const violationOf = ({ name, labels }: Registration): string | undefined => {
  if (name.trim() === '') return 'a runner has a name.';
  if (name.length > maxNameLength)
    return `its name is longer than ${maxNameLength} characters. Give the pool a shorter one.`;
  if (labels.length < 1 || labels.length > maxLabels) {
    return `it has ${labels.length} labels. Give it 1 to ${maxLabels}.`;
  }
  return labels.some((label) => label.trim() === '') ? 'one of its labels is empty. Leave that one out.' : undefined;
};

export const createMint = (
  caller: CallContext,
  groups: RunnerGroups,
  visibility: OwnerVisibility,
): RunnerService['mint'] => {
  const { callApi, operations, pathParameters, ownerName } = caller;
  return async (registration, { signal } = {}) => {
    const { name, labels, group: wanted } = registration;
    const what = `make the runner ${name} in ${ownerName}`;
    const wrong = violationOf(registration);
    if (wrong !== undefined) return invalidRequest(what, wrong);
    const group = await groups.idOf(wanted, signal);
    if (isProblem(group)) return group;
    // The folder has no default that could be relied on.
    const parameters = { ...pathParameters, name, labels, runner_group_id: group.id, work_folder: '_work' };
    const made = await callApi({ operation: operations.mint, what, parameters, answer: jitConfigResponse, signal });
    if (made.kind === 'ok') {
      visibility.confirm();
      return { kind: 'minted', id: made.value.runner.id, jitConfig: made.value.encoded_jit_config };
    }
    if (made.kind === 'refused' && made.status === 409) return { kind: 'name taken' };
    // A group that is gone is 404, one that the App may not use 403 (`docs.rs/runner-manager-github`, module `jit`).
    if (wanted !== undefined) groups.forget();
    if (made.kind === 'refused' && made.status === 404 && wanted !== undefined) {
      const { permission } = operations.mint;
      return missingPermission(
        what,
        { ...operations.mint, permission: `the runner group ${wanted}, and ${permission}` },
        made.errorMessage,
      );
    }
    return problemFrom(made, what, ownerName);
  };
};
