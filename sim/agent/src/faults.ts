/** What goes wrong with the agent of one Mac. Any of it may be changed while it runs. */
export interface AgentFaults {
  /** It reports, but never that it is Ready. */
  neverReady: boolean;
  /** Its process runs and nobody hears of it: no Lease, no status, no certificate request. */
  silent: boolean;
}

export const noFaults = (): AgentFaults => ({ neverReady: false, silent: false });
