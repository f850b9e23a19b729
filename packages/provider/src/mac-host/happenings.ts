import { type EventReason, events, type MacHostSpec } from '@tartan/api';
import type { Happening } from '@tartan/kube';
import type { Quarantine, Wipe } from './snapshot.ts';
import { stuckMessage } from './wipe.ts';

/** What people hear of a Mac when it happens. Each comes once; what lasts is a condition. */

const happening = (reason: EventReason, message: string): Happening => ({ type: events[reason][0], reason, message });

export const renamedForHolder = (from: string, to: string, wasInPool: boolean): Happening =>
  wasInPool
    ? happening('Claimed', `The machine ${to} holds the Mac, which was ${from} at Scaleway.`)
    : happening('NameRepaired', `Its name at Scaleway was ${from}. It is ${to} again, as its holder is called.`);

export const wipeRequested = ({ attempts = 1 }: Wipe, image: string | undefined): Happening =>
  happening(
    'WipeRequested',
    `Scaleway was asked to reinstall it with ${image ?? 'the default image of its type'}. (Attempt ${attempts}.)`,
  );

export const noImage = (family: string, type: string): Happening =>
  happening(
    'OSPinUnavailable',
    `Scaleway has no image of ${family} for ${type} any more, so its default is installed. Machines that ask for ${family} will not find this Mac: set spec.os of their template to a family that there is.`,
  );

export const quarantinedNow = ({ count, reason, until }: Quarantine): Happening =>
  happening('Quarantined', `${reason} Nobody claims it before ${until}. (Number ${count} of its quarantines.)`);

export const cannotBeWiped = (wipe: Wipe, doing: string | undefined): Happening =>
  happening('Quarantined', stuckMessage(wipe, doing ?? 'unknown'));

export const otherOSWanted = (from: string | undefined, to: string): Happening =>
  happening(
    'OtherOSWanted',
    `It was free with ${from ?? 'unknown OS'}. A machine waits for ${to}, so it is reinstalled.`,
  );

export const abandonedNow = (message: string): Happening => happening('Abandoned', message);

export const wipeFailed = (message: string): Happening => happening('WipeFailed', message);

export const returnedToPool = (name: string): Happening =>
  happening('ReturnedToPool', `It was seen to be wiped, and is called ${name}.`);

export const takenByOthers = (name: string, { consumerRef, release }: MacHostSpec): Happening =>
  happening(
    'TakenByOthers',
    `At Scaleway the server is called ${name}: another cluster or a person has it. ${
      consumerRef
        ? `The machine ${consumerRef.namespace}/${consumerRef.name}, which was claiming it, takes another one.`
        : `It was to be wiped and put back into the pool ${release?.poolPrefix ?? ''}, and is not.`
    } Look at who uses it; to give it back, rename it to a name of the pool at Scaleway.`,
  );

export const rebootRefused = (message: string): Happening => happening('RebootForRecoveryFailed', message);
