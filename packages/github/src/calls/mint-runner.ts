import type { Clock } from '@tartan/kube/clock';
import { listAllPages } from '../http/client.ts';
import { groupsResponse, jitConfigResponse } from '../http/responses.ts';
import { invalidRequest, missingPermission, RefusedError, unknownGroup } from '../problems.ts';
import type { Registration, RunnerService } from '../runner-service.ts';
import type { CallContext } from './call-context.ts';
import type { OwnerVisibility } from './runners.ts';

/** `Default` of every organisation, and the only group of repositories (`cdk-github-runners`, `token-retriever.lambda.ts`). */
const defaultGroupID = 1;
const groupTTLMs = 10 * 60_000;
/** Soon enough for a user who has just created the group, seldom enough for a pool that waits for it. */
const missingGroupTTLMs = 60_000;

type RunnerGroups = ReturnType<typeof createRunnerGroups>;

const isSameName = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

/** Runner groups by their names. */
export const createRunnerGroups = ({ callApi, owner, ownerName, operations }: CallContext, clock: Clock) => {
  let known: { readonly at: number; readonly groups: readonly { id: number; name: string }[] } | undefined;
  return {
    /** A group was not as expected: read the groups again. */
    forget: () => {
      known = undefined;
    },
    idOf: async (group: string | undefined, signal: AbortSignal | undefined): Promise<number> => {
      if (group === undefined || isSameName(group, 'Default')) return defaultGroupID;
      const what = `tell the runner groups of ${ownerName}`;
      if (owner.kind === 'repository') throw invalidRequest(what, 'a repository has none. Leave the runner group out.');
      const age = clock.monotonic() - (known?.at ?? Number.NEGATIVE_INFINITY);
      const find = () => known?.groups.find(({ name }) => isSameName(name, group));
      if (age >= (find() === undefined ? missingGroupTTLMs : groupTTLMs)) {
        const call = { operation: operations.groups, what, answer: groupsResponse, signal };
        const groups = await listAllPages(callApi, 'runner_groups', call, 10);
        known = { at: clock.monotonic(), groups };
      }
      const found = find();
      if (found !== undefined) return found.id;
      const names = known?.groups.map(({ name }) => name) ?? [];
      throw unknownGroup(group, ownerName, names);
    },
  };
};

const maxNameLength = 64;
const maxLabels = 100;

/** Why GitHub would refuse this registration. Then no request is sent. */
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
  { callApi, operations, ownerName }: CallContext,
  groups: RunnerGroups,
  visibility: OwnerVisibility,
): RunnerService['mint'] => {
  return async (registration, { signal } = {}) => {
    const { name, labels, group } = registration;
    const operation = operations.mint;
    const what = `make the runner ${name} in ${ownerName}`;
    const wrong = violationOf(registration);
    if (wrong !== undefined) throw invalidRequest(what, wrong);
    const groupID = await groups.idOf(group, signal);
    // The default of the folder is not documented.
    const parameters = { name, labels, runner_group_id: groupID, work_folder: '_work' };
    try {
      const made = await callApi({ operation, what, parameters, answer: jitConfigResponse, signal });
      visibility.confirm();
      return { kind: 'minted', id: made.runner.id, jitConfig: made.encoded_jit_config };
    } catch (error) {
      const { status, errorMessage = '' } = error instanceof RefusedError ? error : {};
      if (status === 409) return { kind: 'name taken' };
      if (group === undefined) throw error;
      // A deleted group gives 404, one that the App may not use 403 (`docs.rs/runner-manager-github`, module `jit`).
      groups.forget();
      if (status !== 404) throw error;
      const permission = `the runner group ${group}, and ${operation.permission}`;
      throw missingPermission(what, { ...operation, permission }, errorMessage);
    }
  };
};
