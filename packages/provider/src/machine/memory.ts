import type { Clock } from '@tartan/kube/clock';
import { createHostOffers, type HostOfferSources } from '../claim/host-offers.ts';
import type { Informers } from '../controller-deps.ts';
import { createMissingNodeTracker } from '../pods/missing-nodes.ts';
import { createSlots } from '../slots.ts';
import { createRunningPushes } from './act/running-pushes.ts';
import { createRunnerLastSeen } from './observe/runner.ts';
import { createRequeueLimiter, createSeenVersions } from './requeue.ts';

interface MemoryOptions extends HostOfferSources {
  readonly clock: Clock;
  readonly options: { readonly machineWorkers: number };
}

/** What this process remembers of machines, beyond what they record themselves. It may be lost. */
export const createMachineMemory = ({ clock, options, ...sources }: MemoryOptions) => ({
  missingNodes: createMissingNodeTracker(clock),
  runnerLastSeen: createRunnerLastSeen(clock),
  hostOffers: createHostOffers(sources),
  requeueLimiter: createRequeueLimiter(),
  versions: createSeenVersions(),
  /** For pushes: memory and network of the manager are sized by their number (INC-11). */
  slots: createSlots(options.machineWorkers),
  pushes: createRunningPushes(),
});

export type MachineMemory = ReturnType<typeof createMachineMemory>;

/**
 * Drops what is remembered by UID of machines that do not exist any more. Called by the last pass of a machine, after all that could still
 * remember something; and when the controller starts, for those that went while another process led.
 */
export const forgetGoneMachines = ({
  machines,
  pushes,
  runnerLastSeen,
  requeueLimiter,
  versions,
}: MachineMemory & Pick<Informers, 'machines'>): void => {
  const isGone = (uid: string): boolean => machines.byIndex('uid', uid).length === 0;
  for (const memory of [pushes, runnerLastSeen, requeueLimiter, versions]) memory.forgetWhere(isGone);
};
