import type { MacHost } from '@tartan/api';
import { matchesFamily } from '@tartan/scaleway';
import type { Host } from '../controller-deps.ts';
import { abandonReason } from '../mac-host/snapshot.ts';

/** What a machine looks for in the pool. */
export interface HostRequirements {
  readonly name: string;
  readonly uid: string;
  readonly zone: string;
  /** `M2-L` */
  readonly type: string;
  /** The release family of macOS. One with a version counts as its family. */
  readonly os: string;
  /** An empty one is no pool: nothing fits. */
  readonly poolPrefix: string;
  /** The server that this machine is recorded to hold, by `spec.providerID` and by its Secret. Undefined: none. */
  readonly recordedServer: string | undefined;
}

/** What there is. */
export interface Supply {
  readonly hosts: readonly Host[];
  /** Servers that other machines have reserved: `status.serverID` of all but this one. */
  readonly reservedByOthers: ReadonlySet<string>;
  readonly now: number;
}

/** Why a Mac is not for a machine: the first of these that holds. */
export type ClaimBlocker =
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

export const isHeldBy = (host: MacHost, uid: string): boolean => host.spec.consumerRef?.uid === uid;

/** It was held by this machine, whose status is lost. To bear the name of the machine proves nothing: anybody can give a name. */
export const isRecorded = ({ name, recordedServer }: HostRequirements, host: Host): boolean =>
  recordedServer === host.metadata.name && host.status?.name === name;

/**
 * Judges the object alone, so that one version of it is free or is not, whoever looks; only the end of a quarantine depends on the
 * clock. That other machines have reserved it is no obstacle here: the compare-and-swap on the host decides between them.
 */
export const claimBlockedBy = (wanted: HostRequirements, host: Host, now: number): ClaimBlocker | undefined => {
  const { spec, status = {} } = host;
  if (host.metadata.deletionTimestamp !== undefined) return 'going';
  if (spec.consumerRef !== undefined) return isHeldBy(host, wanted.uid) ? undefined : 'held';
  if (abandonReason(host) !== undefined || status.state === 'abandoned') return 'abandoned';
  if (spec.release !== undefined || status.state === 'releasing') return 'releasing';
  if (status.state === 'quarantined' || isQuarantined(status.quarantine?.until, now)) return 'quarantined';
  if (spec.zone !== wanted.zone) return 'other zone';
  if (status.type !== wanted.type) return 'other type';
  if (!matchesFamily({ name: status.osImage ?? '', family: status.osFamily ?? '' }, wanted.os)) return 'other os';
  if (!isRecorded(wanted, host) && !isInPool(wanted, status)) return 'not in the pool';
  // Also for one that bears the right name: it may be reinstalling.
  return status.serverStatus === 'ready' ? undefined : 'not ready';
};

// A time that is none (NaN) is never over.
const isQuarantined = (until: string | undefined, now: number): boolean =>
  until !== undefined && !(Date.parse(until) <= now);

const isInPool = ({ poolPrefix }: HostRequirements, { state, name = '' }: NonNullable<MacHost['status']>): boolean =>
  state === 'pool' && poolPrefix !== '' && name.startsWith(poolPrefix);
