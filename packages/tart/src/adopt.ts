import { type Clock, sleep } from '@tartan/kube/clock';
import { isSameProcess, type ProcessTable } from './processes.ts';
import type { RunningVm, VmExit } from './run.ts';

export interface AdoptOptions {
  readonly processes: ProcessTable;
  readonly clock: Clock;
  /** How often it looks. */
  readonly pollMs: number;
  /** Ends the looking: `exited` then stays open for good. */
  readonly signal: AbortSignal;
}

/**
 * A virtual machine that an earlier process of ours started. It is no child of ours, so its end is seen by looking, and its code is
 * lost. A look that fails says nothing: it counts as alive.
 */
export const adoptVm = (vm: Omit<RunningVm, 'exited'>, options: AdoptOptions): RunningVm => {
  const { processes, clock, pollMs, signal } = options;
  const watch = async (): Promise<VmExit> => {
    for (;;) {
      const found = await processes.find(vm.pid).catch(() => vm);
      if (signal.aborted) return new Promise(() => {});
      if (found === undefined || !isSameProcess(found, vm))
        return { code: undefined, signal: undefined, at: clock.now() };
      await sleep(clock, pollMs, signal);
      if (signal.aborted) return new Promise(() => {});
    }
  };
  return { ...vm, exited: watch() };
};
