import { unavailable } from '../problems.ts';
import type { RunnerService } from '../runner-service.ts';
import { downloadsAnswer, emptyAnswer, runnerAnswer, runnersAnswer, tokenAnswer } from '../wire/answers.ts';
import { toRunner } from '../wire/to-runner.ts';
import { type Caller, problemIn } from './caller.ts';
import { followPages } from './follow-pages.ts';
import type { Reach } from './reach.ts';

/** The most that GitHub lets an organisation have: 10,000 in a group. */
const mostPages = 100;

type RunnerCalls = Pick<RunnerService, 'get' | 'find' | 'list' | 'newestRunner' | 'remove' | 'registrationToken'>;

/** Runners that are there. Whether one is busy is never told from what we keep: `get` and `find` always ask. */
export const runnerCalls = ({ ask, operations, where, ownerName }: Caller, reach: Reach): RunnerCalls => ({
  get: async (id, { signal } = {}) => {
    const what = `tell of the runner ${id} of ${ownerName}`;
    const parameters = { ...where, runner_id: id };
    const got = await ask({ operation: operations.get, what, parameters, answer: runnerAnswer, signal });
    if (got.kind === 'ok') {
      reach.proven();
      return { kind: 'found', runner: toRunner(got.value) };
    }
    if (got.kind === 'refused' && got.status === 404) return (await reach.whyNot(what, signal)) ?? { kind: 'none' };
    return problemIn(got, what, ownerName);
  },

  find: async (name, { signal } = {}) => {
    const what = `look for the runner ${name} in ${ownerName}`;
    const parameters = { ...where, name, per_page: 100 };
    const got = await ask({ operation: operations.find, what, parameters, answer: runnersAnswer, signal });
    if (got.kind !== 'ok') return problemIn(got, what, ownerName);
    reach.proven();
    // A server that does not know the parameter shows whatever it has.
    const found = got.value.runners.find((runner) => runner.name.toLowerCase() === name.toLowerCase());
    return found === undefined ? { kind: 'none' } : { kind: 'found', runner: toRunner(found) };
  },

  list: async ({ signal } = {}) => {
    const what = `list the runners of ${ownerName}`;
    const asked = { operation: operations.list, what, parameters: where, answer: runnersAnswer, signal };
    const all = await followPages(
      ask,
      { ...asked, isConditional: true },
      ({ total_count: total, runners: items }) => ({ total, items }),
      mostPages,
    );
    if (all.kind !== 'ok') return problemIn(all, what, ownerName);
    reach.proven();
    return { kind: 'listed', runners: all.value.map(toRunner) };
  },

  newestRunner: async ({ signal } = {}) => {
    const what = `tell the newest release of the runner to ${ownerName}`;
    const asked = { operation: operations.downloads, what, parameters: where, answer: downloadsAnswer, signal };
    const got = await ask({ ...asked, isConditional: true });
    if (got.kind !== 'ok') return problemIn(got, what, ownerName);
    const { filename = '' } = got.value.find(({ os, architecture }) => os === 'osx' && architecture === 'arm64') ?? {};
    const version = /-(\d{1,5}\.\d{1,5}\.\d{1,5})\.tar\.gz$/.exec(filename)?.[1];
    return version === undefined
      ? unavailable(what, 'it lists no runner for Macs with Apple silicon')
      : { kind: 'known', version };
  },

  remove: async (id, { signal } = {}) => {
    const what = `remove the runner ${id} of ${ownerName}`;
    const parameters = { ...where, runner_id: id };
    const gone = await ask({ operation: operations.remove, what, parameters, answer: emptyAnswer, signal });
    if (gone.kind === 'ok') {
      reach.proven();
      return { kind: 'removed' };
    }
    // Whatever GitHub's words are (they have changed): who will not let go of it may have given it a job.
    if (gone.kind === 'refused' && gone.status === 422) return { kind: 'busy' };
    if (gone.kind === 'refused' && gone.status === 404) return (await reach.whyNot(what, signal)) ?? { kind: 'none' };
    return problemIn(gone, what, ownerName);
  },

  registrationToken: async ({ signal } = {}) => {
    const what = `give a registration token for ${ownerName}`;
    const asked = { operation: operations.registrationToken, what, parameters: where, answer: tokenAnswer, signal };
    const got = await ask(asked);
    return got.kind === 'ok' ? { kind: 'known', token: got.value.token } : problemIn(got, what, ownerName);
  },
});
