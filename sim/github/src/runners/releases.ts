import type { Clock } from '@tartan/kube/clock';

/** A release of actions/runner. */
export interface RunnerRelease {
  readonly version: string;
  /** Milliseconds since the epoch. */
  readonly publishedAt: number;
}

/** "Runner software updates on self-hosted runners" in GitHub's documentation: after this time an older runner gets no jobs. */
const graceMs = 30 * 24 * 3_600_000;

const partsOf = (version: string): number[] => version.split('.').map(Number);
const isOlder = (one: string, other: string): boolean => {
  const [a, b] = [partsOf(one), partsOf(other)];
  const at = a.findIndex((part, index) => part !== b[index]);
  return at >= 0 && (a[at] ?? 0) < (b[at] ?? 0);
};

export interface Releases {
  newest(): RunnerRelease | undefined;
  /** Whether a newer release is so old that this one gets no jobs. */
  isRefused(version: string): boolean;
}

export const createReleases = (clock: Pick<Clock, 'now'>, releases: readonly RunnerRelease[]): Releases => {
  const published = (): RunnerRelease[] => releases.filter(({ publishedAt }) => publishedAt <= clock.now());
  return {
    newest: () =>
      published().reduce<RunnerRelease | undefined>(
        (newest, each) => (newest === undefined || isOlder(newest.version, each.version) ? each : newest),
        undefined,
      ),
    isRefused: (version) =>
      published().some((each) => isOlder(version, each.version) && clock.now() - each.publishedAt >= graceMs),
  };
};
