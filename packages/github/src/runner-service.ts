import type { Secret } from '@tartan/kube';

/** The owner of runners, as in `spec.github` of a RunnerPool. */
export type Owner =
  | { readonly kind: 'organization'; readonly organization: string }
  | { readonly kind: 'repository'; readonly repository: `${string}/${string}` };

/** The GitHub App that calls GitHub. */
export interface GitHubApp {
  readonly appID: string;
  readonly installationID: string;
  /** PEM, as GitHub issues it. */
  readonly privateKey: Secret;
}

/**
 * Why there is no answer. `Denied`: the App has no permission, or is not installed there; retrying does not help. `RateLimited`: not before
 * `retryAt`. `Unavailable`: there was no valid response; the call may have taken effect.
 */
export interface Problem {
  readonly kind: 'problem';
  readonly reason: 'Denied' | 'RateLimited' | 'Unavailable';
  /** What, why, and what to do. Never a secret. */
  readonly message: string;
  /** Milliseconds since the epoch. */
  readonly retryAt?: number;
}

export interface Runner {
  readonly id: number;
  readonly name: string;
  readonly isOnline: boolean;
  /** May be some seconds stale. */
  readonly isBusy: boolean;
}

export interface Registration {
  /** At most 64 characters; unique at GitHub. */
  readonly name: string;
  readonly labels: readonly string[];
  /** By name. Undefined: `Default`. */
  readonly group: string | undefined;
}

/** Jobs that wait for a runner with such labels. */
export interface Queue {
  readonly jobs: number;
  /** Milliseconds since the epoch. */
  readonly oldestSince?: number;
}

type Found = { readonly kind: 'found'; readonly runner: Runner } | { readonly kind: 'none' } | Problem;

interface Call {
  readonly signal?: AbortSignal | undefined;
}

/** All callers of an installation share such an answer. */
interface SharedCall extends Call {
  /** How long before the call the read of the answer may have begun. Default: 0. An answer that follows an event needs a younger read. */
  readonly maxAgeMs?: number | undefined;
}

/**
 * Runners of one organisation or repository at GitHub. Calls reject only when their signal is aborted: failures of GitHub are answers.
 * Calls do not wait for rate limits: while a limit applies, they answer `RateLimited` at once and send nothing.
 */
export interface RunnerService {
  /** Creates a runner for one job, which can connect only with this configuration. */
  mint(
    registration: Registration,
    call?: Call,
  ): Promise<
    | { readonly kind: 'minted'; readonly id: number; readonly jitConfig: Secret }
    /** A runner of that name exists, or did a moment ago. */
    | { readonly kind: 'name taken' }
    | Problem
  >;
  get(id: number, call?: Call): Promise<Found>;
  find(name: string, call?: Call): Promise<Found>;
  list(call?: SharedCall): Promise<{ readonly kind: 'listed'; readonly runners: readonly Runner[] } | Problem>;
  /** The newest release of the runner for Macs, such as `2.335.0`. GitHub does not tell its date. */
  newestRunner(call?: SharedCall): Promise<{ readonly kind: 'known'; readonly version: string } | Problem>;
  /** `busy`: GitHub refused because the runner has a job. `removed` does not prove that it had none (see docs/runners.md). */
  remove(
    id: number,
    call?: Call,
  ): Promise<{ readonly kind: 'removed' } | { readonly kind: 'none' } | { readonly kind: 'busy' } | Problem>;
  /** A token with which a persistent runner registers; valid for an hour. */
  registrationToken(call?: Call): Promise<{ readonly kind: 'known'; readonly token: Secret } | Problem>;
  /** Jobs that wait for runners with all of these labels. */
  queue(
    labels: readonly string[],
    call?: SharedCall,
  ): Promise<{ readonly kind: 'known'; readonly queue: Queue } | Problem>;
}
