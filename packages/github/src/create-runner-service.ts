import type { Logger } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import { accountOf } from './app/account.ts';
import type { Caller } from './calls/caller.ts';
import { createGroups } from './calls/groups.ts';
import { createMint } from './calls/mint.ts';
import { createReach } from './calls/reach.ts';
import { runnerCalls } from './calls/runners.ts';
import { createAsk } from './http/ask.ts';
import type { CallReport } from './http/exchange.ts';
import { runnerOperations } from './http/operations.ts';
import { nameOfOwner, pathOf } from './owner.ts';
import { createQueue } from './queue/queue.ts';
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
  const account = accountOf(app, clock, send, apiURL);
  const caller: Caller = {
    ask: createAsk({ app, account, fetch: send, clock, apiURL, deadline, onCall, log: options.log }),
    owner,
    ownerName: nameOfOwner(owner),
    where: pathOf(owner),
    operations: runnerOperations(owner),
  };
  const reach = createReach(caller, clock);
  return {
    ...runnerCalls(caller, reach),
    mint: createMint(caller, createGroups(caller, clock), reach),
    queue: createQueue(caller),
  };
};
