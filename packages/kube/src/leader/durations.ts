/** How patient an election is. The defaults are those of Kubernetes' own components. */
export interface ElectionDurations {
  /** How long others leave a lease alone that has not changed. Whole seconds: that is what a Lease can say. */
  leaseMs: number;
  /** How long after having sent its last successful renewal a leader goes on. */
  renewDeadlineMs: number;
  /** Between two tries, to get the lease as well as to renew it. */
  retryPeriodMs: number;
}

export const defaultElectionDurations: ElectionDurations = {
  leaseMs: 15_000,
  renewDeadlineMs: 10_000,
  retryPeriodMs: 2_000,
};

/**
 * lease > renew deadline: a leader stops before another starts. Their ratio is also how much faster than the leader's a
 * follower's clock may run (1.5 with the defaults). renew deadline > 1.2 × retry period: a leader that misses one renewal gets
 * another chance.
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

/** Two calls that hang fit into one renew deadline. */
export const callDeadlineMs = ({ renewDeadlineMs }: ElectionDurations): number => renewDeadlineMs / 2;
