import type { Clock } from '@tartan/kube/clock';
import type { RateLimit } from './api/rate-limit.ts';
import type { AppIdentity, Tokens } from './app/authentication.ts';
import type { Installation } from './app/installation.ts';
import type { GitHubEvent, GitHubFaults } from './github.ts';
import type { Jobs } from './jobs/jobs.ts';
import type { Releases } from './runners/releases.ts';
import type { RunnerGroup } from './runners/runner.ts';
import type { Runners } from './runners/runners.ts';

/** All events, in order. */
export interface EventLog {
  readonly all: readonly GitHubEvent[];
  record(event: Omit<GitHubEvent, 'at'>): void;
}

export const createEventLog = (clock: Clock): EventLog => {
  const all: GitHubEvent[] = [];
  return { all, record: (event) => all.push({ at: clock.now(), ...event }) };
};

/** Everything that answers depend on. */
export interface Deps {
  readonly clock: Clock;
  readonly app: AppIdentity & { readonly slug: string };
  readonly installations: readonly Installation[];
  readonly groups: readonly RunnerGroup[];
  readonly tokens: Tokens;
  readonly runners: Runners;
  readonly jobs: Jobs;
  readonly limit: RateLimit;
  readonly releases: Releases;
  readonly faults: GitHubFaults;
  readonly history: EventLog;
  /** The address of this GitHub. */
  readonly url: () => string;
}
