import type { Clock } from '@tartan/kube/clock';
import type { AppIdentity } from './app/check-assertion.ts';
import type { Installation } from './app/installation.ts';
import type { Tokens } from './app/tokens.ts';
import type { GitHubFaults } from './github.ts';
import type { History } from './history.ts';
import type { Jobs } from './jobs/jobs.ts';
import type { RateLimit } from './requests/rate-limit.ts';
import type { Releases } from './runners/releases.ts';
import type { RunnerGroup } from './runners/runner.ts';
import type { Runners } from './runners/runners.ts';

/** All that answers are made of. */
export interface World {
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
  readonly history: History;
  /** Where it is reached. */
  readonly url: () => string;
}
