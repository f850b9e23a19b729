import type { ConditionDefinition } from './capi-conditions.ts';

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
        'Cluster API replaces machines that were created from another template. The message names them.',
      ],
      MachinesMissing: [
        'False',
        'There are fewer machines than wanted. Look at the MachineDeployment and its template.',
      ],
      MachinesNotReady: ['False', 'Some machines are not Ready. The message names them.'],
      Rolling: ['False', 'Machines are being updated.'],
      Paused: ['False', 'Machines are to be rolled, but spec.paused or spec.pausedByRelease is set.'],
      Stalled: ['False', 'The rollout has stopped: see Stalled.'],
    },
  },
  Rolling: {
    means: 'Machines are being updated.',
    reasons: {
      Canary: ['True', 'The first machine is being updated, alone.'],
      Wave: ['True', 'The first one is Ready; as many at a time as spec.maxUnavailable says follow.'],
      UpToDate: ['False', 'There is nothing to roll.'],
      WaitingForMachines: [
        'False',
        'Those that are left are not Ready, do not answer, or have refused. They go as soon as they can. The message names them.',
      ],
      Paused: ['False', 'spec.paused or spec.pausedByRelease is set.'],
      Stalled: ['False', 'The rollout has stopped.'],
    },
  },
  Stalled: {
    means: 'The roll has stopped and does not go on by itself.',
    reasons: {
      PushRejected: ['True', 'A Mac refused. The message says which, and why. Another revision starts the roll again.'],
      GateDeadlineExceeded: ['True', 'A Mac was rolled and did not become Ready in time. It is rolled back.'],
      NotStalled: ['False', 'The rollout has not stopped.'],
      WaitingForManager: [
        'False',
        'It has under a manager that spec.releaseID does not name. Whether it stays so is for the one to say that is named.',
      ],
    },
  },
} as const satisfies Record<string, ConditionDefinition>;

/** What a MacHost can say of itself. */
export const macHostConditions = {
  Listed: {
    means: 'Scaleway lists the Mac.',
    reasons: {
      Listed: ['True', 'It was in the last list of its zone.'],
      Gone: ['False', 'Scaleway does not know it any more.'],
      ZoneNotListed: ['Unknown', 'Its zone could not be listed. What is said here is of the last time.'],
    },
  },
  Named: {
    means: 'Its name at Scaleway is what its holder, or its way back, asks for.',
    reasons: {
      NameMatches: ['True', 'The name is correct.'],
      RenamePending: ['False', 'It is being renamed.'],
      RenameRefused: ['False', 'Scaleway refused the name. It is tried again.'],
    },
  },
  Wiped: {
    means: 'Its disk is that of a fresh install.',
    reasons: {
      Wiped: ['True', 'The reinstall was seen to begin and to end.'],
      WipeRequested: ['False', 'A reinstall was asked for and not yet seen to begin.'],
      Reinstalling: ['False', 'Scaleway is reinstalling it.'],
      WipeFailed: ['False', 'The reinstall failed. It is tried again.'],
      InUse: ['False', 'A machine holds it, or held it.'],
      NotWiped: ['False', 'It has a host key or stamps of an earlier install. It is wiped again.'],
      NotSeen: ['Unknown', 'Nobody saw it being installed: a Mac that was ordered, or found.'],
    },
  },
  Quarantined: {
    means: 'Machines may not claim it for now.',
    reasons: {
      BootstrapsFailed: ['True', 'It could not be made ready, time and again.'],
      NotWiped: ['True', 'It came back with its old disk.'],
      WipeFailed: ['True', 'Scaleway has not reinstalled it for an hour or longer. It is tried again every two hours.'],
      NotQuarantined: ['False', 'It can be claimed.'],
    },
  },
  Stranded: {
    means: 'No machine knows it and it is in no pool.',
    reasons: {
      ReportOnly: ['True', 'It would be reclaimed, if --orphan-reclaim-claim-name-prefix were set.'],
      NotOurs: ['True', 'Its name is not of the kind that this cluster gives. It is left alone: look at who uses it.'],
      NoAdoptPoolPrefix: ['True', 'Nobody said which pool it belongs to: set --default-adopt-pool-prefix.'],
      Reclaiming: ['True', 'It is being put back into the pool.'],
      Paused: ['True', 'It would be reclaimed, but is paused: see Paused.'],
      ClaimPending: [
        'True',
        'It bears the name of a claim that was never finished. It is put back when it is old enough.',
      ],
      Accounted: ['False', 'It is in a pool, or a machine holds it.'],
    },
  },
  Abandoned: {
    means: 'A person has excluded the Mac from Tartan. Absent for a Mac that never was.',
    reasons: {
      Abandoned: ['True', 'It has the annotation tuist.dev/abandon. It is not wiped, renamed, claimed or reclaimed.'],
      NotAbandoned: ['False', 'The annotation was removed.'],
    },
  },
  Paused: {
    means: 'Nothing is done to the Mac: no wipe, no rename, no restart. A wipe that Scaleway has begun goes on.',
    reasons: {
      Paused: [
        'True',
        'The MacHost, the machine that holds it or gave it back, or the Cluster of that machine is paused. The message says which.',
      ],
      NotPaused: ['False', 'None of them is paused.'],
    },
  },
} as const satisfies Record<string, ConditionDefinition>;
