import type { MacHost } from '@tartan/api';
import type { Live } from '@tartan/kube';
import { matchesFamily } from '@tartan/scaleway';
import { abandonedBecause } from '../mac-host/abandoned.ts';
import type { Wanted } from './wanted.ts';

/** Why a Mac is not for a machine: the first of these that holds. */
export type Obstacle =
  /** Its MacHost is being deleted. */
  | 'going'
  | 'held'
  /** A person has told us to leave it alone. */
  | 'abandoned'
  | 'releasing'
  | 'quarantined'
  | 'other zone'
  | 'other type'
  | 'other os'
  /** Neither in this pool nor recorded as the machine's. */
  | 'not in the pool'
  /** Scaleway is doing something with it. */
  | 'not ready';

type Host = Live<MacHost>;

export const isHeldBy = (host: MacHost, uid: string): boolean => host.spec.consumerRef?.uid === uid;

/** It was held by this machine, whose status is lost. To bear the name of the machine proves nothing: anybody can give a name. */
export const isRecorded = ({ name, recordedServer }: Wanted, host: Host): boolean =>
  recordedServer === host.metadata.name && host.status?.name === name;

/**
 * Judges the object alone, so that one version of it is free or is not, whoever looks; only the end of a quarantine depends on the
 * clock. That other machines have reserved it is no obstacle here: the compare-and-swap on the host decides between them.
 */
export const obstacleTo = (wanted: Wanted, host: Host, now: number): Obstacle | undefined => {
  const { spec, status = {} } = host;
  if (host.metadata.deletionTimestamp !== undefined) return 'going';
  if (spec.consumerRef !== undefined) return isHeldBy(host, wanted.uid) ? undefined : 'held';
  if (abandonedBecause(host) !== undefined || status.state === 'abandoned') return 'abandoned';
  if (spec.release !== undefined || status.state === 'releasing') return 'releasing';
  if (status.state === 'quarantined' || isQuarantined(status.quarantine?.until, now)) return 'quarantined';
  if (spec.zone !== wanted.zone) return 'other zone';
  if (status.type !== wanted.type) return 'other type';
  if (!matchesFamily({ name: status.osImage ?? '', family: status.osFamily ?? '' }, wanted.os)) return 'other os';
  if (!isRecorded(wanted, host) && !isInPool(wanted, status)) return 'not in the pool';
  // Also for one that bears the right name: it may be reinstalling (G-12).
  return status.serverStatus === 'ready' ? undefined : 'not ready';
};

// A time that is none (NaN) is never over.
const isQuarantined = (until: string | undefined, now: number): boolean =>
  until !== undefined && !(Date.parse(until) <= now);

const isInPool = ({ poolPrefix }: Wanted, { state, name = '' }: NonNullable<MacHost['status']>): boolean =>
  state === 'pool' && poolPrefix !== '' && name.startsWith(poolPrefix);
