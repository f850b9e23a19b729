/** The changes of the original (pull requests of tuist/tuist) that the requirements are taken from. */
export const changes = {
  11065: 'stream bootstrap binaries instead of copying them per roll',
  11072: 'disable tart-kubelet orphan-VM GC on builder nodes',
  10981: 'wire CAPI core’s workload connection for the Mac-mini fleets',
  10875: 'four forward-only bootstrap fixes from the runners-fleet incident',
  11056: 'reclaim stranded Scaleway Apple-silicon hosts back to the pool',
} as const;

export type Change = keyof typeof changes;
