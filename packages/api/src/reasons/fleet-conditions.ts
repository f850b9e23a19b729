import type { ConditionDefinition } from './capi-conditions.ts';

/** The conditions of a MacFleet. kstatus, and so `helm --wait`, reads `Ready` and `Stalled`. */
export const macFleetConditions = {
  Ready: {
    means: 'There are as many machines as wanted, all Ready and up to date.',
    reasons: {
      UpToDate: ['True', 'The desired state is reached.'],
      ReadyButShort: [
        'True',
        'Machines are missing or not Ready, and spec.waitForMacs is false. The others are up to date. The message names them.',
      ],
      WaitingForManager: [
        'False',
        'The manager that spec.releaseID names has not observed the fleet, or not all of its machines. The message says which.',
      ],
      WaitingForMachineDeployment: [
        'False',
        'The MachineDeployment that spec.machinesRevision names was not observed in its latest version yet, or spec.replicas is about to be written to it.',
      ],
      Replacing: [
        'False',
        'Cluster API replaces machines that were created from another template. The message names them.',
      ],
      MachinesMissing: [
        'False',
        'There are fewer machines than desired. Check the MachineDeployment and its template.',
      ],
      MachinesNotReady: ['False', 'Some machines are not Ready. The message names them.'],
      Rolling: ['False', 'Machines are being updated.'],
      Paused: ['False', 'Updates are due, but spec.paused or spec.pausedByRelease is set.'],
      Stalled: ['False', 'The rollout has stopped: see Stalled.'],
    },
  },
  Rolling: {
    means: 'Machines are being updated.',
    reasons: {
      Canary: ['True', 'The first machine is being updated, alone.'],
      Wave: ['True', 'The first machine is Ready; up to spec.maxUnavailable others are updated at once.'],
      UpToDate: ['False', 'There is nothing to roll.'],
      WaitingForMachines: [
        'False',
        'The remaining machines are not Ready, do not answer, or have rejected the update. They are updated as soon as possible. The message names them.',
      ],
      MaxUnavailableReached: [
        'False',
        'As many Macs as spec.maxUnavailable are not available, so no other Mac is updated. The message names them. Repair or delete their machines, pause them, or raise spec.maxUnavailable.',
      ],
      Paused: ['False', 'spec.paused or spec.pausedByRelease is set.'],
      Stalled: ['False', 'The rollout has stopped.'],
    },
  },
  Stalled: {
    means: 'The rollout has stopped, and does not resume by itself.',
    reasons: {
      PushRejected: [
        'True',
        'A Mac rejected the update. The message says which, and why. Another revision resumes the rollout.',
      ],
      GateDeadlineExceeded: ['True', 'An updated Mac did not become Ready in time. It is rolled back.'],
      NotStalled: ['False', 'The rollout has not stopped.'],
      WaitingForManager: [
        'False',
        'The rollout had stopped under another manager than spec.releaseID names. The named manager decides next.',
      ],
    },
  },
} as const satisfies Record<string, ConditionDefinition>;

/** The conditions of a MacHost. */
export const macHostConditions = {
  Listed: {
    means: 'Scaleway lists the Mac.',
    reasons: {
      Listed: ['True', 'It was in the last list of its zone.'],
      Gone: ['False', 'Scaleway does not list it any more.'],
      ZoneNotListed: ['Unknown', 'Its zone could not be listed. The status may be outdated.'],
    },
  },
  Named: {
    means: 'Its name at Scaleway is the one that its holder or its release requires.',
    reasons: {
      NameMatches: ['True', 'The name is correct.'],
      RenamePending: ['False', 'It is being renamed.'],
      RenameRefused: ['False', 'Scaleway refused the name. The manager retries.'],
    },
  },
  Wiped: {
    means: 'Its disk is that of a fresh install.',
    reasons: {
      Wiped: ['True', 'The manager has observed the start and the end of the reinstall.'],
      WipeRequested: ['False', 'A reinstall was requested and has not started yet.'],
      Reinstalling: ['False', 'Scaleway is reinstalling it.'],
      WipeFailed: ['False', 'The reinstall failed. The manager retries.'],
      InUse: ['False', 'A machine holds it, or held it.'],
      NotWiped: ['False', 'It has a host key or stamps of an earlier install. It is wiped again.'],
      NotSeen: ['Unknown', 'The manager has not observed its install: the Mac was ordered, or discovered.'],
    },
  },
  Quarantined: {
    means: 'Machines may not claim it for now.',
    reasons: {
      BootstrapsFailed: ['True', 'It could not be prepared repeatedly.'],
      NotWiped: ['True', 'It came back with its old disk.'],
      WipeFailed: [
        'True',
        'Scaleway has not reinstalled it for an hour or longer. The manager retries every two hours.',
      ],
      NotQuarantined: ['False', 'It can be claimed.'],
    },
  },
  Stranded: {
    means: 'No machine knows it and it is in no pool.',
    reasons: {
      ReportOnly: ['True', 'It would be reclaimed, if --orphan-reclaim-claim-name-prefix were set.'],
      NotOurs: ['True', 'Its name was not given by this cluster. The sweep skips it: find out who uses it.'],
      NoAdoptPoolPrefix: ['True', 'Its pool is not configured: set --default-adopt-pool-prefix.'],
      Reclaiming: ['True', 'It is being returned to the pool.'],
      Paused: ['True', 'It would be reclaimed, but is paused: see Paused.'],
      ClaimPending: [
        'True',
        'It has the name of an unfinished claim. The sweep returns it to the pool when it is old enough.',
      ],
      Accounted: ['False', 'It is in a pool, or a machine holds it.'],
    },
  },
  Abandoned: {
    means: 'A person has excluded the Mac from Tartan. Absent for a Mac that never was.',
    reasons: {
      Abandoned: ['True', 'It has the annotation tuist.dev/abandon. It is not wiped, renamed, claimed or reclaimed.'],
      NotAbandoned: ['False', 'It does not have the annotation tuist.dev/abandon.'],
    },
  },
  Paused: {
    means: 'Nothing is done to the Mac: no wipe, no rename, no restart. A wipe that Scaleway has started continues.',
    reasons: {
      Paused: [
        'True',
        'The MacHost, the machine that holds or released it, or the Cluster of that machine is paused. The message says which.',
      ],
      NotPaused: ['False', 'None of them is paused.'],
    },
  },
} as const satisfies Record<string, ConditionDefinition>;
