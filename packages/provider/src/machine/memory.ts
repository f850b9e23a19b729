import { keyOf } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import { createHostOffers, type HostOfferSources } from '../claim/host-offers.ts';
import type { Machine } from '../controller-deps.ts';
import { createMissingNodeTracker } from '../pods/missing-nodes.ts';
import { createSlots } from '../slots.ts';
import { createRunningPushes } from './act/running-pushes.ts';
import { createFailedReads } from './observe/failed-reads.ts';
import { createRunnerLastSeen } from './observe/runner.ts';
import { createRequeueLimiter, createSeenVersions } from './requeue.ts';

interface MemoryOptions extends HostOfferSources {
  readonly clock: Clock;
  readonly options: { readonly machineWorkers: number };
}

/** What this process remembers of machines, beyond what they record themselves. It may be lost. */
export const createMachineMemory = ({ clock, options, ...sources }: MemoryOptions) => {
  const byUID = {
    runnerLastSeen: createRunnerLastSeen(clock),
    failedReads: createFailedReads(clock),
    requeueLimiter: createRequeueLimiter(),
    versions: createSeenVersions(),
    pushes: createRunningPushes(),
  };
  return {
    ...byUID,
    missingNodes: createMissingNodeTracker(clock),
    hostOffers: createHostOffers(sources),
    /** For pushes: memory and network of the manager are sized by their number (INC-11). */
    slots: createSlots(options.machineWorkers),
    gone: createGoneMachines((uid) => {
      for (const memory of Object.values(byUID)) memory.forget(uid);
    }),
  };
};

export type MachineMemory = ReturnType<typeof createMachineMemory>;

/** Has machines forgotten that are gone. Not before the end of a pass, which could still remember something. */
const createGoneMachines = (forget: (uid: string) => void) => {
  /** UIDs, by key of the machine. */
  const gone = new Map<string, string[]>();
  return {
    add: ({ metadata }: Machine): void => {
      const key = keyOf(metadata);
      gone.set(key, [...(gone.get(key) ?? []), metadata.uid]);
    },
    /** Call it after every pass. A machine that is gone has one more. */
    passEnded: (key: string): void => {
      for (const uid of gone.get(key) ?? []) forget(uid);
      gone.delete(key);
    },
  };
};
