import type { Clock } from '@tartan/kube/clock';
import { installationOf } from './app/installation.ts';
import type { CallContext } from './calls/call-context.ts';
import { createMint, createRunnerGroups } from './calls/mint-runner.ts';
import { createQueuedJobs, matchingJobs } from './calls/queued-jobs.ts';
import { createOwnerVisibility, runnerCalls } from './calls/runners.ts';
import { createCallApi } from './http/client.ts';
import type { CallReport } from './http/exchange.ts';
import { runnerOperations } from './http/operations.ts';
import { ownerName } from './owner.ts';
import { ProblemError } from './problems.ts';
import type { GitHubApp, Owner, Problem, RunnerService } from './runner-service.ts';

export interface RunnerServiceOptions {
  readonly app: GitHubApp;
  readonly owner: Owner;
  readonly clock: Clock;
  /** Default: that of the platform. Only services with the same function share tokens and limits. */
  readonly fetch?: typeof fetch;
  /** `https://api.github.com`, or that of a GitHub Enterprise Server. */
  readonly apiURL?: string;
  /** For metrics: called for each request, including those for tokens and those that a rate limit blocks. */
  readonly onCall?: (report: CallReport) => void;
}

/** GitHub ends a request itself after 10 s ("Troubleshooting the REST API": timeouts). */
const deadline = 15_000;

/** Sends nothing before the first call. */
export const createRunnerService = (options: RunnerServiceOptions): RunnerService => {
  const { app, owner, clock, fetch: send = fetch, onCall = () => undefined } = options;
  const apiURL = (options.apiURL ?? 'https://api.github.com').replace(/\/+$/, '');
  const installation = installationOf(app, clock, send, apiURL);
  const name = ownerName(owner);
  const connection = { fetch: send, clock, apiURL, deadline, onCall };
  const context: CallContext = {
    callApi: createCallApi({ app, installation, ownerName: name, ...connection }),
    owner,
    ownerName: name,
    operations: runnerOperations(owner),
  };
  const visibility = createOwnerVisibility(context, clock);
  const calls = runnerCalls(context, visibility);
  const { reads } = installation;
  const readJobs = answering(createQueuedJobs(context));
  return {
    mint: answering(createMint(context, createRunnerGroups(context, clock), visibility)),
    get: answering(calls.get),
    find: answering(calls.find),
    list: (call = {}) => reads.list.read(name, call, (signal) => answering(calls.list)({ signal })),
    newestRunner: (call = {}) =>
      reads.newestRunner.read(name, call, (signal) => answering(calls.newestRunner)({ signal })),
    remove: answering(calls.remove),
    registrationToken: answering(calls.registrationToken),
    queue: async (labels, call = {}) => {
      const jobs = await reads.jobs.read(name, call, readJobs);
      return 'kind' in jobs ? jobs : { kind: 'known', queue: matchingJobs(jobs, labels) };
    },
  };
};

/** Turns a `ProblemError` into an answer. */
const answering =
  <Args extends unknown[], Answer>(call: (...args: Args) => Promise<Answer>) =>
  async (...args: Args): Promise<Answer | Problem> => {
    try {
      return await call(...args);
    } catch (error) {
      if (error instanceof ProblemError) return error.problem;
      throw error;
    }
  };
