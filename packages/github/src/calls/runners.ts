import type { Clock } from '@tartan/kube/clock';
import type { z } from 'zod';
import { listAllPages } from '../http/client.ts';
import { downloadsResponse, emptyResponse, runnerResponse, runnersResponse, tokenResponse } from '../http/responses.ts';
import { unavailable } from '../problems.ts';
import type { Problem, Runner, RunnerService } from '../runner-service.ts';
import { type CallContext, problemFrom } from './call-context.ts';

const toRunner = ({ id, name, status, busy, labels }: z.output<typeof runnerResponse>): Runner => ({
  id,
  name,
  isOnline: status === 'online',
  isBusy: busy,
  labels: labels.map((label) => label.name),
});

/** How long somebody who saw the runners of an owner is believed to see them still. */
const proofTTLMs = 60_000;

/**
 * To an App that an owner was taken away from, everything there is 404, as if each runner was gone. So a 404 is believed only of who sees
 * the rest: a runner that is taken for gone may lose its Pod.
 */
export interface OwnerVisibility {
  /** GitHub has shown something of this owner just now. */
  confirm(): void;
  /** Undefined: what is 404 is not there. */
  check(what: string, signal: AbortSignal | undefined): Promise<Problem | undefined>;
}

export const createOwnerVisibility = (
  { callApi, operations, pathParameters, ownerName }: CallContext,
  clock: Clock,
): OwnerVisibility => {
  let provenAt = Number.NEGATIVE_INFINITY;
  const confirm = (): void => {
    provenAt = clock.monotonic();
  };
  return {
    confirm,
    check: async (what, signal) => {
      if (clock.monotonic() - provenAt < proofTTLMs) return undefined;
      const parameters = { ...pathParameters, per_page: 1 };
      const shown = await callApi({ operation: operations.reach, what, parameters, answer: runnersResponse, signal });
      if (shown.kind !== 'ok') return problemFrom(shown, what, ownerName);
      confirm();
      return undefined;
    },
  };
};

/** The most that GitHub lets an organisation have: 10,000 in a group. */
const maxPages = 100;

type RunnerCalls = Pick<RunnerService, 'get' | 'find' | 'list' | 'newestRunner' | 'remove' | 'registrationToken'>;

/** Runners that are there. Whether one is busy is never told from what we keep: `get` and `find` always ask. */
export const runnerCalls = (
  { callApi, operations, pathParameters, ownerName }: CallContext,
  visibility: OwnerVisibility,
): RunnerCalls => ({
  get: async (id, { signal } = {}) => {
    const what = `tell of the runner ${id} of ${ownerName}`;
    const parameters = { ...pathParameters, runner_id: id };
    const got = await callApi({ operation: operations.get, what, parameters, answer: runnerResponse, signal });
    if (got.kind === 'ok') {
      visibility.confirm();
      return { kind: 'found', runner: toRunner(got.value) };
    }
    if (got.kind === 'refused' && got.status === 404) return (await visibility.check(what, signal)) ?? { kind: 'none' };
    return problemFrom(got, what, ownerName);
  },

  find: async (name, { signal } = {}) => {
    const what = `look for the runner ${name} in ${ownerName}`;
    const parameters = { ...pathParameters, name, per_page: 100 };
    const got = await callApi({ operation: operations.find, what, parameters, answer: runnersResponse, signal });
    if (got.kind !== 'ok') return problemFrom(got, what, ownerName);
    visibility.confirm();
    // A server that does not know the parameter shows whatever it has.
    const found = got.value.runners.find((runner) => runner.name.toLowerCase() === name.toLowerCase());
    return found === undefined ? { kind: 'none' } : { kind: 'found', runner: toRunner(found) };
  },

  list: async ({ signal } = {}) => {
    const what = `list the runners of ${ownerName}`;
    const asked = { operation: operations.list, what, parameters: pathParameters, answer: runnersResponse, signal };
    const all = await listAllPages(
      callApi,
      { ...asked, isConditional: true },
      ({ total_count: total, runners: items }) => ({ total, items }),
      maxPages,
    );
    if (all.kind !== 'ok') return problemFrom(all, what, ownerName);
    visibility.confirm();
    return { kind: 'listed', runners: all.value.map(toRunner) };
  },

  newestRunner: async ({ signal } = {}) => {
    const what = `tell the newest release of the runner to ${ownerName}`;
    const asked = {
      operation: operations.downloads,
      what,
      parameters: pathParameters,
      answer: downloadsResponse,
      signal,
    };
    const got = await callApi({ ...asked, isConditional: true });
    if (got.kind !== 'ok') return problemFrom(got, what, ownerName);
    const { filename = '' } = got.value.find(({ os, architecture }) => os === 'osx' && architecture === 'arm64') ?? {};
    const version = /-(\d{1,5}\.\d{1,5}\.\d{1,5})\.tar\.gz$/.exec(filename)?.[1];
    return version === undefined
      ? unavailable(what, 'it lists no runner for Macs with Apple silicon')
      : { kind: 'known', version };
  },

  remove: async (id, { signal } = {}) => {
    const what = `remove the runner ${id} of ${ownerName}`;
    const parameters = { ...pathParameters, runner_id: id };
    const gone = await callApi({ operation: operations.remove, what, parameters, answer: emptyResponse, signal });
    if (gone.kind === 'ok') {
      visibility.confirm();
      return { kind: 'removed' };
    }
    // Whatever GitHub's words are (they have changed): who will not let go of it may have given it a job.
    if (gone.kind === 'refused' && gone.status === 422) return { kind: 'busy' };
    if (gone.kind === 'refused' && gone.status === 404)
      return (await visibility.check(what, signal)) ?? { kind: 'none' };
    return problemFrom(gone, what, ownerName);
  },

  registrationToken: async ({ signal } = {}) => {
    const what = `give a registration token for ${ownerName}`;
    const asked = {
      operation: operations.registrationToken,
      what,
      parameters: pathParameters,
      answer: tokenResponse,
      signal,
    };
    const got = await callApi(asked);
    return got.kind === 'ok' ? { kind: 'known', token: got.value.token } : problemFrom(got, what, ownerName);
  },
});
