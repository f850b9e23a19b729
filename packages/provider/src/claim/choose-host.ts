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
interface Supply {
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
const isRecorded = ({ name, recordedServer }: HostRequirements, host: Host): boolean =>
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

type Choice =
  | {
      readonly kind: 'chosen';
      /** `held`: it is the machine's already. `recorded`: it was, and its status is lost. `free`: it is in the pool. */
      readonly because: 'held' | 'recorded' | 'free';
      readonly host: Host;
    }
  /** The Mac that the machine held will do, but not now. To take another would be to take a second one. */
  | { readonly kind: 'wait'; readonly host: Host; readonly message: string }
  | { readonly kind: 'none'; readonly message: string };

interface Candidate {
  readonly host: Host;
  readonly blockedBy: ClaimBlocker | undefined;
}

/**
 * Which Mac a machine without one should reserve. First what is its own already, then what it is recorded to hold, then the pool: those that
 * failed least often, and of these the one that has been there longest, so that all are used in turn.
 */
export const chooseHost = (wanted: HostRequirements, { hosts, reservedByOthers, now }: Supply): Choice => {
  const held = hosts.filter((host) => isHeldBy(host, wanted.uid)).sort(byName)[0];
  if (held) return { kind: 'chosen', because: 'held', host: held };

  const candidates = hosts
    .filter(({ metadata }) => !reservedByOthers.has(metadata.name))
    .map((host): Candidate => ({ host, blockedBy: claimBlockedBy(wanted, host, now) }));
  const isFree = ({ blockedBy }: Candidate): boolean => blockedBy === undefined;

  const mine = candidates.filter(({ host }) => isRecorded(wanted, host));
  const recorded = pickFirst(mine.filter(isFree));
  if (recorded) return { kind: 'chosen', because: 'recorded', host: recorded };
  const busy = pickFirst(mine.filter(({ blockedBy }) => blockedBy === 'not ready'));
  if (busy) return { kind: 'wait', host: busy, message: waitMessage(wanted, busy) };
  const free = pickFirst(candidates.filter(isFree));
  if (free) return { kind: 'chosen', because: 'free', host: free };
  return { kind: 'none', message: noAvailableHostMessage(wanted, { hosts, reservedByOthers, now }) };
};

const waitMessage = ({ name }: HostRequirements, { metadata, status }: Host): string =>
  `The server ${metadata.name} is recorded as that of ${name}, but is ${status?.serverStatus ?? 'in an unknown state'}. It is taken once it is ready.`;

/** Without putting all in order: a claim must not take longer in a large pool. */
const pickFirst = (candidates: readonly Candidate[]): Host | undefined =>
  candidates
    .map(({ host }) => host)
    .reduce<Host | undefined>(
      (first, host) => (first === undefined || byPreference(host, first) < 0 ? host : first),
      undefined,
    );

const byPreference = (a: Host, b: Host): number =>
  failuresOf(a) - failuresOf(b) || sinceOf(a) - sinceOf(b) || byName(a, b);

const failuresOf = ({ status }: Host): number => status?.quarantine?.count ?? 0;

/** One of unknown age comes last. A large number and no infinity: the difference of two infinities is no number. */
const sinceOf = ({ status }: Host): number => {
  const since = Date.parse(status?.since ?? '');
  return Number.isNaN(since) ? Number.MAX_SAFE_INTEGER : since;
};

const byName = (a: Host, b: Host): number => (a.metadata.name < b.metadata.name ? -1 : 1);

/** More kinds of Macs than that are summed up: a condition is for reading. */
const maxGroups = 12;

/**
 * What was looked for, and what there is instead: counts by type, macOS and state. Holds no time and no name, so that it stays the same
 * while the pool does.
 */
const noAvailableHostMessage = (wanted: HostRequirements, { hosts, reservedByOthers, now }: Supply): string => {
  const sought = `No ${wanted.type} with ${wanted.os} is free in ${wanted.zone} whose name begins with ${wanted.poolPrefix || '(no prefix)'}.`;
  if (hosts.length === 0) {
    return `${sought} There is no Mac at all, or none has been listed yet: order one, and give it a name that begins so.`;
  }
  const groups = new Map<string, number>();
  for (const host of hosts) {
    const isReserved = reservedByOthers.has(host.metadata.name);
    const label = `${kindOf(host)} ${situationOf(wanted, host, claimBlockedBy(wanted, host, now), isReserved)}`;
    groups.set(label, (groups.get(label) ?? 0) + 1);
  }
  // The most frequent first; equal ones by their text, so that the order of a cache does not show.
  const sorted = [...groups].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1));
  const shown = sorted.slice(0, maxGroups).map(([label, count]) => `${count} ${label}`);
  const rest = sorted.slice(maxGroups).reduce((sum, [, count]) => sum + count, 0);
  const listed = [...shown, ...(rest > 0 ? [`${rest} of other kinds`] : [])].join(', ');
  return `${sought} Instead there are: ${listed}. Order one, free one, or change what is asked for; it is tried again by itself.`;
};

const kindOf = ({ status }: Host): string =>
  `${status?.type ?? 'unknown type'} with ${status?.osFamily ?? 'unknown OS'}`;

const situationOf = (
  wanted: HostRequirements,
  host: Host,
  blockedBy: ClaimBlocker | undefined,
  isReserved: boolean,
): string => {
  const { spec, status } = host;
  switch (blockedBy) {
    case 'going':
      return 'that Scaleway no longer has';
    case 'held':
    case 'abandoned':
    case 'releasing':
    case 'quarantined':
      return blockedBy;
    case 'not ready':
      return `in the pool but ${status?.serverStatus ?? 'in an unknown state'}`;
    case 'not in the pool':
      return status?.state === 'pool' ? 'in another pool' : stateOf(host);
    case 'other zone':
    case 'other type':
    case 'other os':
    case undefined: {
      const where = spec.zone === wanted.zone ? '' : ` in ${spec.zone}`;
      return `${isReserved ? 'reserved by another machine' : stateOf(host)}${where}`;
    }
  }
};

const stateOf = ({ status }: Host): string =>
  status?.state === 'pool' ? 'free' : (status?.state ?? 'not looked at yet');
