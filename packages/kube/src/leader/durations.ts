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
export const validateDurations = (durations: ElectionDurations): ElectionDurations => {
  const { leaseMs, renewDeadlineMs, retryPeriodMs } = durations;
  const refuse = (why: string): never => {
    throw new RangeError(
      `The durations of the leader election make no sense: ${why} (lease ${leaseMs} ms, renew deadline ${renewDeadlineMs} ms, retry period ${retryPeriodMs} ms). Kubernetes uses 15, 10 and 2 seconds.`,
    );
  };
  if (![leaseMs, renewDeadlineMs, retryPeriodMs].every((value) => Number.isFinite(value) && value > 0)) {
    refuse('each must be a positive number');
  }
  if (leaseMs % 1000 !== 0) refuse('the lease must last whole seconds');
  if (leaseMs <= renewDeadlineMs) refuse('the lease must last longer than the renew deadline');
  if (renewDeadlineMs <= retryPeriodMs * 1.2) refuse('the renew deadline must exceed 1.2 times the retry period');
  return durations;
};

/** Two calls that hang fit into one renew deadline. */
export const callDeadlineMs = ({ renewDeadlineMs }: ElectionDurations): number => renewDeadlineMs / 2;
