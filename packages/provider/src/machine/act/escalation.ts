import { macHost, type ReleaseReason } from '@tartan/api';
import { again, getCondition, type Live } from '@tartan/kube';
import { timestamp } from '@tartan/kube/clock';
import type { MacHost } from '@tartan/api';
import { osFamilyKey } from '@tartan/scaleway';
import { giveBackHost, type Release } from '../../claim/index.ts';
import type { WorkOutcome } from '../../host-work/host-work.ts';
import { clusterNameOf } from '../../pause/pauses.ts';
import { readPausesOfMachine } from '../../pause/read-pauses.ts';
import { pinnedKey } from '../pinned.ts';
import { done, type Result } from '../result.ts';
import { waits } from '../waits.ts';
import { type Act, type Acted, callOf, lookAgain, statusIn } from './context.ts';

/**
 * Asks for the one restart that may help. The time of the request is that of the last failure: who crashes before it is written down
 * asks for the very same restart again, and not for another one.
 */
export const reboot = async (act: Act): Promise<Acted> => {
  const { world, record, observation } = act;
  const { host } = observation;
  if (host === undefined) return lookAgain;
  const requestedAt = statusIn(act).lastBootstrapFailureTime ?? timestamp(observation.snapshot.now);
  const { name, uid, resourceVersion } = host.metadata;
  const body = { metadata: { uid, resourceVersion }, spec: { reboot: { requestedAt } } };
  await world.client.patch(macHost.resource, { name }, { type: 'merge', body }, callOf(act));
  await record.write((status) => ({ ...status, bootstrapRebootIssued: true }));
  return { result: done, next: again(waits.others) };
};

/** The Mac cannot be made ready: it goes back, and into quarantine. Only the swap; the next look sees it gone and lets go of it. */
export const giveBack = (act: Act, poolPrefix: string): Promise<Acted> => {
  const { bootstrapAttempts = 0, conditions } = statusIn(act);
  const last = getCondition(conditions, 'Bootstrapped')?.message;
  const message = `It could not be made ready in ${bootstrapAttempts} attempts.${last ? ` The last one: ${last}` : ''}`;
  return swap(act, { poolPrefix, reason: 'BootstrapExhausted', message }, { result: done, next: again(0) });
};

/** At once, however often it was tried: nothing on it may be touched, since it is what somebody else left (I-24). */
export const giveBackUnwiped = (act: Act, outcome: Extract<WorkOutcome, { kind: 'not wiped' }>): Promise<Acted> => {
  const { observation } = act;
  const { message, hostKey } = outcome;
  const result: Result = { kind: 'worked', outcome };
  const poolPrefix = observation.host?.spec.poolPrefix || observation.wanted.poolPrefix;
  if (!poolPrefix) return Promise.resolve({ result, next: again(waits.person) });
  return swap(act, { poolPrefix, reason: 'NotWiped', message, hostKey }, { result, next: again(0) });
};

interface Wish {
  readonly poolPrefix: string;
  readonly reason: ReleaseReason;
  readonly message?: string;
  readonly hostKey?: string;
}

const longestMessage = 1024;

/** One guarded write, and only while this machine holds the Mac and nobody has paused it. Whoever comes too late finds that out at the next look. */
export const swap = async (act: Act, wish: Wish, given: Acted): Promise<Acted> => {
  const { world, record } = act;
  // A push may have taken minutes since the machine was read.
  if ((await readPausesOfMachine(world, record.machine.metadata, callOf(act))).length > 0) return lookAgain;
  const outcome = await giveBackHost(world.client, {
    ...callOf(act),
    serverID: statusIn(act).serverID ?? '',
    holder: record.machine.metadata.uid,
    release: (host) => releaseOf(act, host, wish),
  });
  return outcome.kind === 'given' ? given : lookAgain;
};

const releaseOf = (act: Act, _host: Live<MacHost>, { poolPrefix, reason, message, hostKey }: Wish): Release => {
  const { world, record, observation } = act;
  const family = familyOf(record.machine.spec.os);
  const key = hostKey ?? pinnedKey(record.machine, observation);
  const { namespace = '', name, uid } = record.machine.metadata;
  const cluster = clusterNameOf(record.machine)?.name;
  return {
    poolPrefix,
    reason,
    serverName: record.machine.metadata.name,
    requestedAt: timestamp(world.clock.now()),
    ...(family && { family }),
    ...(message && { message: message.slice(0, longestMessage) }),
    ...(key && { hostKey: key }),
    machine: { namespace, name, uid, ...(cluster && { cluster }) },
  };
};

/** Older specs name an image: its family is what is installed (I-28). */
const familyOf = (os: string): string => osFamilyKey(os).replace(/\d.*$/s, '');
