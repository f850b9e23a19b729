import type { Clock, Random } from '@tartan/kube/clock';
import type { ApiRequest, Reply } from './api/handler.ts';
import type { Installation } from './app/installation.ts';
import type { JobRecord, JobRequest } from './jobs/jobs.ts';
import type { RunnerRelease } from './runners/releases.ts';
import type { RunnerGroup } from './runners/runner.ts';

/** What becomes of one call instead of what should. */
export type CallFault =
  /** Done, and the connection is cut before the answer (`runs-on#546`: then the second try is a 409). */
  | 'lost'
  | 'hang'
  /** 401, and the token is worthless from now on. */
  | 'expired token'
  /** Done at once, answered after so many milliseconds. */
  | { readonly slow: number }
  /** The rest of the hour's calls is gone. It stays so until the reset. */
  | { readonly limit: 'primary'; readonly status?: 403 | 429 }
  /** For so many seconds every call is refused; `tells`: with `retry-after`. */
  | { readonly limit: 'secondary'; readonly seconds: number; readonly status?: 403 | 429; readonly tells?: boolean }
  /** `done`: it happened nevertheless (`runs-on/pull/30`). */
  | {
      readonly status: number;
      readonly body?: unknown;
      readonly headers?: Record<string, string>;
      readonly done?: boolean;
    };

/** No connection at all, or this status for everything. */
type Outage = 'refused' | number;

/** What goes wrong with this GitHub. Any of it may be changed while it runs. */
export interface GitHubFaults {
  /** The next calls whose `METHOD path` (without the query) matches. */
  readonly calls: { match: RegExp; times: number; with: CallFault }[];
  /** The API, and the service to which runners connect: they fail apart. No job is given out while the latter does. */
  readonly outage: { api: Outage | undefined; actions: Outage | undefined };
  /** The next runners of such a name are online only so many milliseconds after they have connected, or never. */
  readonly registrations: { match: RegExp; times: number; with: { after: number } | 'never' }[];
  /** So many milliseconds after a runner was given a job, answers still say that it is idle (`actions/runner#4422`). */
  staleBusyFor: number;
  /**
   * What a DELETE says meanwhile. `accepted`: 204, and the job goes on with the credentials that it has
   * (`terraform-aws-github-runner#5086`).
   */
  deleteWhileStale: 'refused' | 'accepted';
  /** So many milliseconds after its one job, a runner is still there and busy: 422 for a DELETE, 409 for its name. */
  lingersFor: number;
  /** Each is queued right after an answer that shows a runner that could take it as idle (`actions-runner-controller#1125`). */
  readonly jobsAfterIdle: JobRequest[];
}

export interface GitHubOptions {
  readonly clock?: Clock;
  readonly random?: Random;
  /** 0, and without it: any that is free. */
  readonly port?: number;
  /** `privateKey`: PEM of an RSA key; a new one unless told. */
  readonly app?: { readonly id?: number; readonly privateKey?: string };
  /** Where the App is installed. Unless told: in `acme`, with one repository, `acme/app`, and all rights that runners need. */
  readonly installations?: readonly Installation[];
  /** Beside `Default`, which has the number 1. */
  readonly runnerGroups?: readonly RunnerGroup[];
  /** Calls per hour of an installation. */
  readonly rateLimit?: number;
  /** Releases of the runner, also those to come. None unless told: then no runner is too old. */
  readonly runnerReleases?: readonly RunnerRelease[];
}

/** Something that happened. */
export interface GitHubEvent {
  readonly at: number;
  readonly type:
    | 'token made'
    | `runner ${'registered' | 'online' | 'offline' | 'removed'}`
    | `job ${'queued' | 'assigned' | 'queued again' | 'started' | 'finished' | 'lost' | 'expired'}`;
  readonly installation?: number;
  /** Its name. */
  readonly runner?: string;
  readonly job?: number;
  readonly reason?: string;
}

/** A runner as GitHub really sees it, whatever its answers say. */
export interface SimulatedRunner {
  readonly id: number;
  readonly name: string;
  readonly owner: string;
  readonly labels: readonly string[];
  readonly groupID: number;
  readonly isEphemeral: boolean;
  readonly isOnline: boolean;
  readonly isBusy: boolean;
}

interface GitHub {
  readonly app: { readonly id: number; readonly clientID: string; readonly slug: string; readonly privateKey: string };
  readonly faults: GitHubFaults;
  queueJob(job: JobRequest): JobRecord;
  jobs(): readonly JobRecord[];
  /** Jobs whose runner was not heard of again. A fleet that is kept well has none. */
  lostJobs(): readonly JobRecord[];
  runners(): readonly SimulatedRunner[];
  readonly history: readonly GitHubEvent[];
  /** Every request that came, with its query: `GET /orgs/acme/actions/runners?page=1`. */
  readonly requests: readonly string[];
  /** All access tokens are worthless from now on. */
  expireTokens(): void;
  stop(): Promise<void>;
}

/** GitHub over HTTP, on this machine. */
export interface SimulatedGitHub extends GitHub {
  readonly url: string;
}

/** The same without sockets, so that a test on virtual time is complete. */
export interface EmbeddedGitHub extends GitHub {
  readonly handle: (request: ApiRequest) => Promise<Reply>;
  /** The same in the form in which clients ask, whatever host they name. */
  readonly fetch: typeof fetch;
}

interface Planned<T> {
  readonly match: RegExp;
  times: number;
  readonly with: T;
}

/** The first fault that is meant for this, which is used up by it. */
export const takeFault = <T>(planned: Planned<T>[], what: string): T | undefined => {
  // A copy: a global expression remembers where it stopped, and each call is a new text.
  const index = planned.findIndex(({ match, times }) => times > 0 && new RegExp(match).test(what));
  const fault = planned[index];
  if (fault === undefined) return undefined;
  fault.times -= 1;
  if (fault.times === 0) planned.splice(index, 1);
  return fault.with;
};
