/** What a manager needs of leader election. That of `leader/` fits. */
export interface LeaderElection {
  /**
   * Takes part until `signal` fires. Calls `lead` whenever this process becomes the leader, never twice at the same time. The signal
   * of `lead` fires when leadership is lost, or when `signal` has fired; in the latter case the lease is renewed until `lead` has
   * ended, and given back after that. A `lead` that cannot end its work never settles: then the lease must not be given back.
   * Resolves when all of that is over. Rejects when it cannot take part.
   */
  run(signal: AbortSignal, lead: (leading: AbortSignal) => Promise<void>): Promise<unknown>;
}

/** For a process that is alone. */
export const alwaysLeading: LeaderElection = { run: (signal, lead) => lead(signal) };
