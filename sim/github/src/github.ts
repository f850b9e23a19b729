import type { Clock, Random } from '@tartan/kube/clock';
import type { ApiRequest, Reply } from './api/handler.ts';
import type { Installation } from './app/installation.ts';
import type { JobRecord, JobRequest } from './jobs/jobs.ts';
import type { RunnerRelease } from './runners/releases.ts';
import type { RunnerGroup } from './runners/runner.ts';

/** A fault of one call. */
export type CallFault =
  /** Done, but the connection is cut before the answer (`runs-on#546`: then the second try is a 409). */
  | 'lost'
  | 'hang'
  /** 401, and the token is invalid from now on. */
  | 'expired token'
  /** Done at once, answered after so many milliseconds. */
  | { readonly slow: number }
  /** Uses up the remaining calls of the hour, until the reset. */
  | { readonly limit: 'primary'; readonly status?: 403 | 429 }
  /** Refuses every call for so many seconds; `tells`: with `retry-after`. */
  | { readonly limit: 'secondary'; readonly seconds: number; readonly status?: 403 | 429; readonly tells?: boolean }
  /** `done`: the call had its effect nevertheless (`runs-on/pull/30`). */
  | {
      readonly status: number;
      readonly body?: unknown;
      readonly headers?: Record<string, string>;
      readonly done?: boolean;
    };

/** Connections refused, or this status for every call. */
type Outage = 'refused' | number;

/** The faults of this GitHub. They may change while it runs. */
export interface GitHubFaults {
  /** The next calls whose `METHOD path` (without the query) matches. */
  readonly calls: { match: RegExp; times: number; with: CallFault }[];
  /** The API and the service for runners fail separately. While the latter is down, no job is assigned. */
  readonly outage: { api: Outage | undefined; actions: Outage | undefined };
  /** The next runners with such a name are online only so many milliseconds after they have connected, or never. */
  readonly registrations: { match: RegExp; times: number; with: { after: number } | 'never' }[];
  /** For so many milliseconds after a runner got a job, answers still show it as idle (`actions/runner#4422`). */
  staleBusyFor: number;
  /**
   * The answer to a DELETE meanwhile. `accepted`: 204, and the job continues with its credentials
   * (`terraform-aws-github-runner#5086`).
   */
  deleteWhileStale: 'refused' | 'accepted';
  /** For so many milliseconds after its only job, a runner still exists and is busy: 422 for a DELETE, 409 for its name. */
  lingersFor: number;
  /** Each is queued right after an answer that shows a suitable runner as idle (`actions-runner-controller#1125`). */
  readonly jobsAfterIdle: JobRequest[];
}

export interface GitHubOptions {
  readonly clock?: Clock;
  readonly random?: Random;
  /** Default, and 0: any free port. */
  readonly port?: number;
  /** `privateKey`: PEM of an RSA key. Default: a new one. */
  readonly app?: { readonly id?: number; readonly privateKey?: string };
  /** Installations of the App. Default: in `acme`, with the repository `acme/app` and all permissions for runners. */
  readonly installations?: readonly Installation[];
  /** In addition to `Default`, which has the ID 1. */
  readonly runnerGroups?: readonly RunnerGroup[];
  /** Calls per hour of an installation. */
  readonly rateLimit?: number;
  /** Releases of the runner, including future ones. Default: none, so no runner is too old. */
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

/** The real state of a runner, which answers may not show. */
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
  /** Jobs whose runner disappeared. A healthy fleet has none. */
  lostJobs(): readonly JobRecord[];
  runners(): readonly SimulatedRunner[];
  readonly history: readonly GitHubEvent[];
  /** All requests with their query: `GET /orgs/acme/actions/runners?page=1`. */
  readonly requests: readonly string[];
  /** Revokes all access tokens. */
  expireTokens(): void;
  stop(): Promise<void>;
}

/** GitHub over HTTP, on this machine. */
export interface SimulatedGitHub extends GitHub {
  readonly url: string;
}

/** The same without sockets, for tests on virtual time. */
export interface EmbeddedGitHub extends GitHub {
  readonly handle: (request: ApiRequest) => Promise<Reply>;
  /** The same as a `fetch` function, for any host name. */
  readonly fetch: typeof fetch;
}

interface Planned<T> {
  readonly match: RegExp;
  times: number;
  readonly with: T;
}

/** Takes the first fault that matches, and uses it up once. */
export const takeFault = <T>(planned: Planned<T>[], what: string): T | undefined => {
  // A copy, because a global RegExp keeps its last position.
  const index = planned.findIndex(({ match, times }) => times > 0 && new RegExp(match).test(what));
  const fault = planned[index];
  if (fault === undefined) return undefined;
  fault.times -= 1;
  if (fault.times === 0) planned.splice(index, 1);
  return fault.with;
};
