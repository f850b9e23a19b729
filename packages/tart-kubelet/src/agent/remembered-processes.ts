import type { Clock } from '@tartan/kube/clock';
import type { HostProcess, ProcessTable } from '@tartan/tart';

export interface RememberedProcesses extends ProcessTable {
  /** The last list, if it is from the last seconds; else a fresh one. */
  recent(): Promise<readonly HostProcess[]>;
}

/** The Node looks at the Mac every ten seconds. */
const recentMs = 15_000;

/** Keeps the last list: ps takes longer than all else that the agent does to start a virtual machine. */
export const rememberProcesses = (table: ProcessTable, clock: Pick<Clock, 'monotonic'>): RememberedProcesses => {
  let last: { readonly at: number; readonly processes: readonly HostProcess[] } | undefined;
  const list = async (): Promise<readonly HostProcess[]> => {
    const at = clock.monotonic();
    const processes = await table.list();
    if (last === undefined || last.at < at) last = { at, processes };
    return processes;
  };
  return {
    list,
    find: (pid) => table.find(pid),
    recent: async () => (last !== undefined && clock.monotonic() - last.at <= recentMs ? last.processes : list()),
  };
};
