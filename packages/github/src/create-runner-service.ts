import type { Logger } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import { installationOf } from './app/installation.ts';
import type { CallContext } from './calls/call-context.ts';
import { createMint, createRunnerGroups } from './calls/mint-runner.ts';
import { createQueue } from './calls/queued-jobs.ts';
import { createOwnerVisibility, runnerCalls } from './calls/runners.ts';
import { createCallApi } from './http/client.ts';
import type { CallReport } from './http/exchange.ts';
import { runnerOperations } from './http/operations.ts';
import { ownerName, pathParametersOf } from './owner.ts';
import type { GitHubApp, Owner, RunnerService } from './runner-service.ts';

export interface RunnerServiceOptions {
  readonly app: GitHubApp;
  readonly owner: Owner;
  readonly clock: Clock;
  /** The one of the platform unless told. Services share tokens and limits only if they have the same. */
  readonly fetch?: typeof fetch;
  /** `https://api.github.com`, or that of a GitHub Enterprise Server. */
  readonly apiURL?: string;
  /** Milliseconds for each request. */
  readonly deadline?: number;
  /** For metrics: each request is reported, also those for tokens. */
  readonly onCall?: (report: CallReport) => void;
  readonly log?: Logger;
}

/** Makes nothing but the object: GitHub is asked when somebody asks for something. */
export const createRunnerService = (options: RunnerServiceOptions): RunnerService => {
  // GitHub ends a request itself after 10 s ("Troubleshooting the REST API": timeouts).
  const { app, owner, clock, fetch: send = fetch, deadline = 15_000, onCall = () => undefined } = options;
  const apiURL = (options.apiURL ?? 'https://api.github.com').replace(/\/+$/, '');
  const installation = installationOf(app, clock, send, apiURL);
  const context: CallContext = {
    callApi: createCallApi({ app, installation, fetch: send, clock, apiURL, deadline, onCall, log: options.log }),
    owner,
    ownerName: ownerName(owner),
    pathParameters: pathParametersOf(owner),
    operations: runnerOperations(owner),
  };
  const visibility = createOwnerVisibility(context, clock);
  return {
    ...runnerCalls(context, visibility),
    mint: createMint(context, createRunnerGroups(context, clock), visibility),
    queue: createQueue(context),
  };
};
