/** Durations of leader election. The defaults are those of Kubernetes' components. */
export interface ElectionDurations {
  /** How long an unchanged lease blocks other candidates. Whole seconds: the unit of the Lease's field. */
  leaseMs: number;
  /** How long a leader continues after it sent its last successful renewal. */
  renewDeadlineMs: number;
  /** Between two attempts to acquire or renew the lease. */
  retryPeriodMs: number;
}

export const defaultElectionDurations: ElectionDurations = {
  leaseMs: 15_000,
  renewDeadlineMs: 10_000,
  retryPeriodMs: 2_000,
};

/**
 * lease > renew deadline: a leader stops before another starts. Their ratio is also how much faster a follower's clock may run
 * than the leader's (1.5 with the defaults). renew deadline > 1.2 × retry period: a leader that misses one renewal can retry.
 */
export const durationsProblem = ({
  leaseMs,
  renewDeadlineMs,
  retryPeriodMs,
}: ElectionDurations): string | undefined => {
  if (leaseMs % 1000 !== 0) return 'the lease must last whole seconds, as a Lease can hold nothing else';
  if (!(leaseMs > renewDeadlineMs)) return 'the lease must last longer than the renew deadline';
  return renewDeadlineMs > 1.2 * retryPeriodMs && retryPeriodMs > 0
    ? undefined
    : 'the renew deadline must exceed 1.2 times the retry period';
};

/** Two hanging calls fit into one renew deadline. */
export const callDeadlineMs = ({ renewDeadlineMs }: ElectionDurations): number => renewDeadlineMs / 2;
