import type { ConditionWords } from './words.ts';

/** What a MacFleet can say of itself: `Ready` and `Stalled` are what kstatus, and so `helm --wait`, looks at. */
export const macFleetConditions = {
  Ready: {
    means: 'There are as many machines as wanted, all Ready and up to date.',
    reasons: {
      UpToDate: ['True', 'All is as wanted.'],
      ReadyButShort: [
        'True',
        'Machines are missing or not Ready, and spec.waitForMacs is false. The others are up to date. The message names them.',
      ],
      WaitingForManager: [
        'False',
        'The manager that spec.releaseID names has not looked at the fleet, or not at all of its machines. The message says which.',
      ],
      WaitingForMachineDeployment: [
        'False',
        'The MachineDeployment that spec.machinesRevision names was not seen yet as it was written last, or spec.replicas is about to be written to it.',
      ],
      Replacing: [
        'False',
        'Cluster API replaces machines that were made from another template than is wanted now. The message names them.',
      ],
      MachinesMissing: [
        'False',
        'There are fewer machines than wanted. Look at the MachineDeployment and its template.',
      ],
      MachinesNotReady: ['False', 'Some machines are not Ready. The message names them.'],
      Rolling: ['False', 'Machines are being rolled.'],
      Paused: ['False', 'Machines are to be rolled, but spec.paused or spec.pausedByRelease is set.'],
      Stalled: ['False', 'The roll has stopped: see Stalled.'],
    },
  },
  Rolling: {
    means: 'Machines are being rolled.',
    reasons: {
      Canary: ['True', 'The first machine is being rolled, alone.'],
      Wave: ['True', 'The first one is Ready; as many at a time as spec.maxUnavailable says follow.'],
      UpToDate: ['False', 'There is nothing to roll.'],
      WaitingForMachines: [
        'False',
        'Those that are left are not Ready, do not answer, or have refused. They go as soon as they can. The message names them.',
      ],
      Paused: ['False', 'spec.paused or spec.pausedByRelease is set.'],
      Stalled: ['False', 'The roll has stopped.'],
    },
  },
  Stalled: {
    means: 'The roll has stopped and does not go on by itself.',
    reasons: {
      PushRejected: ['True', 'A Mac refused. The message says which, and why. Another revision starts the roll again.'],
      GateDeadlineExceeded: ['True', 'A Mac was rolled and did not become Ready in time. It is rolled back.'],
      NotStalled: ['False', 'It has not.'],
      WaitingForManager: [
        'False',
        'It has under a manager that spec.releaseID does not name. Whether it stays so is for the one to say that is named.',
      ],
    },
  },
} as const satisfies Record<string, ConditionWords>;
