import type { ConditionWords } from './words.ts';

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
      NameMatches: ['True', 'It is.'],
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
      NotWiped: ['False', 'It showed a host key or marks of an earlier install. It is wiped again.'],
      NotSeen: ['Unknown', 'Nobody saw it being installed: a Mac that was ordered, or found.'],
    },
  },
  Quarantined: {
    means: 'Nobody may claim it for now.',
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
    means: 'A person has told Tartan to leave the Mac alone. Not said of a Mac that never was.',
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
      NotPaused: ['False', 'None of them is.'],
    },
  },
} as const satisfies Record<string, ConditionWords>;
