import type { Clock } from '@tartan/kube/clock';
import type { z } from 'zod';
import { listAllPages } from '../http/client.ts';
import { downloadsResponse, emptyResponse, runnerResponse, runnersResponse, tokenResponse } from '../http/responses.ts';
import { orRefused, RefusedError, unavailable } from '../problems.ts';
import type { Runner, RunnerService } from '../runner-service.ts';
import type { CallContext } from './call-context.ts';

const toRunner = ({ id, name, status, busy }: z.output<typeof runnerResponse>): Runner => ({
  id,
  name,
  isOnline: status === 'online',
  isBusy: busy,
});

/** For this long after a successful read the App counts as having access to an owner. */
const proofTTLMs = 60_000;

/**
 * An App that has lost access to an owner gets 404 for everything there, as if each runner was gone. So a 404 counts only if the App can
 * see the other runners: the Pod of a missing runner may be deleted.
 */
export type OwnerVisibility = ReturnType<typeof createOwnerVisibility>;

export const createOwnerVisibility = ({ callApi, operations }: CallContext, clock: Clock) => {
  let provenAt = Number.NEGATIVE_INFINITY;
  /** A call to this owner has just succeeded. */
  const confirm = (): void => {
    provenAt = clock.monotonic();
  };
  return {
    confirm,
    /** Rejects if the App cannot see the owner. */
    check: async (what: string, signal: AbortSignal | undefined): Promise<void> => {
      if (clock.monotonic() - provenAt < proofTTLMs) return;
      const parameters = { per_page: 1 };
      await callApi({ operation: operations.find, what, parameters, answer: runnersResponse, signal });
      confirm();
    },
  };
};

/** GitHub's limit: 10,000 runners in a group. */
const maxPages = 100;

/** Calls about registered runners. `get` and `find` never use the cache: Pods are deleted depending on whether a runner is busy. */
export const runnerCalls = (
  { callApi, operations, ownerName }: CallContext,
  visibility: OwnerVisibility,
): Omit<RunnerService, 'mint' | 'queue'> => ({
  get: async (id, { signal } = {}) => {
    const what = `tell of the runner ${id} of ${ownerName}`;
    const parameters = { runner_id: id };
    const got = await orRefused(
      callApi({ operation: operations.get, what, parameters, answer: runnerResponse, signal }),
    );
    if (!(got instanceof RefusedError)) {
      visibility.confirm();
      return { kind: 'found', runner: toRunner(got) };
    }
    if (got.status !== 404) throw got;
    await visibility.check(what, signal);
    return { kind: 'none' };
  },

  find: async (name, { signal } = {}) => {
    const what = `look for the runner ${name} in ${ownerName}`;
    const parameters = { name, per_page: 100 };
    const { runners } = await callApi({
      operation: operations.find,
      what,
      parameters,
      answer: runnersResponse,
      signal,
    });
    visibility.confirm();
    // A server without this query parameter lists all runners.
    const found = runners.find((runner) => runner.name.toLowerCase() === name.toLowerCase());
    return found === undefined ? { kind: 'none' } : { kind: 'found', runner: toRunner(found) };
  },

  list: async ({ signal } = {}) => {
    const what = `list the runners of ${ownerName}`;
    const call = { operation: operations.list, what, answer: runnersResponse, signal };
    const runners = await listAllPages(callApi, 'runners', call, maxPages);
    visibility.confirm();
    return { kind: 'listed', runners: runners.map(toRunner) };
  },

  newestRunner: async ({ signal } = {}) => {
    const what = `tell the newest release of the runner to ${ownerName}`;
    const call = { operation: operations.downloads, what, answer: downloadsResponse, signal };
    const downloads = await callApi({ ...call, isConditional: true });
    const { filename = '' } = downloads.find(({ os, architecture }) => os === 'osx' && architecture === 'arm64') ?? {};
    const version = /-(\d{1,5}\.\d{1,5}\.\d{1,5})\.tar\.gz$/.exec(filename)?.[1];
    if (version === undefined) throw unavailable(what, 'it lists no runner for Macs with Apple silicon');
    return { kind: 'known', version };
  },

  remove: async (id, { signal } = {}) => {
    const what = `remove the runner ${id} of ${ownerName}`;
    const parameters = { runner_id: id };
    const gone = await orRefused(
      callApi({ operation: operations.remove, what, parameters, answer: emptyResponse, signal }),
    );
    if (!(gone instanceof RefusedError)) {
      visibility.confirm();
      return { kind: 'removed' };
    }
    // GitHub's message for this has changed over time: a runner that it does not remove may have a job.
    if (gone.status === 422) return { kind: 'busy' };
    if (gone.status !== 404) throw gone;
    await visibility.check(what, signal);
    return { kind: 'none' };
  },

  registrationToken: async ({ signal } = {}) => {
    const what = `give a registration token for ${ownerName}`;
    const { token } = await callApi({ operation: operations.registrationToken, what, answer: tokenResponse, signal });
    return { kind: 'known', token };
  },
});
