/** The changes to the original system that the requirements are taken from. */
export const seeds = {
  '000': 'stream bootstrap binaries instead of copying them per roll',
  '001': 'disable tart-kubelet orphan-VM GC on builder nodes',
  '002': 'wire CAPI core’s workload connection for the Mac-mini fleets',
  '003': 'four forward-only bootstrap fixes from the runners-fleet incident',
  '004': 'reclaim stranded Scaleway Apple-silicon hosts back to the pool',
} as const;

export type Seed = keyof typeof seeds;
