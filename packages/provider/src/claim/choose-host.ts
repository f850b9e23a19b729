import type { MacHost } from '@tartan/api';
import { matchesFamily } from '@tartan/scaleway';
import type { Host } from '../controller-deps.ts';
import { abandonReason } from '../mac-host/snapshot.ts';
import { isQuarantined } from '../mac-host/wipe.ts';

/** What a machine looks for in the pool. */
export interface HostRequirements {
  readonly name: string;
  readonly uid: string;
  readonly zone: string;
  /** `M2-L` */
  readonly type: string;
  /** The release family of macOS. A version counts as its family. */
  readonly os: string;
  /** Empty: no pool, so no host matches. */
  readonly poolPrefix: string;
  /** The server that this machine is recorded to hold, by `spec.providerID` and by its Secret. Undefined: none. */
  readonly recordedServer: string | undefined;
}

interface Supply {
  /** All that the machine might claim: those that it holds, the recorded one, and the pool of its zone and type. Others are allowed. */
  readonly candidates: readonly Host[];
  /** Macs to tell of when none is free: the pool of its zone and type. Others are allowed. */
  readonly hosts: () => readonly Host[];
  /** How many Macs have each `hostSummary`, to tell of the rest. */
  readonly counts: () => ReadonlyMap<string, number>;
  /** Whether the server is in `status.serverID` of another machine. */
  readonly isReservedByOther: (serverID: string) => boolean;
  readonly now: number;
}

/** Why a machine cannot claim a host. The first reason that applies. */
export type ClaimBlocker =
  /** Its MacHost is being deleted. */
  | 'going'
  | 'held'
  /** A user has annotated it as abandoned. */
  | 'abandoned'
  | 'releasing'
  | 'quarantined'
  | 'other zone'
  | 'other type'
  | 'other os'
  /** Neither in this pool nor recorded as the host of the machine. */
  | 'not in the pool'
  /** Scaleway is working on it. */
  | 'not ready';

export const isHeldBy = (host: MacHost, uid: string): boolean => host.spec.consumerRef?.uid === uid;

/** The machine held this host, but its status is lost. A matching name alone proves nothing: anybody can rename a server. */
const isRecorded = ({ name, recordedServer }: HostRequirements, host: Host): boolean =>
  recordedServer === host.metadata.name && host.status?.name === name;

/**
 * Depends on the object alone, so every manager judges one version of it alike; only the end of a quarantine depends on the clock.
 * Reservations of other machines do not matter here: the optimistic lock on the MacHost decides between them.
 */
export const claimBlockedBy = (wanted: HostRequirements, host: Host, now: number): ClaimBlocker | undefined => {
  const { spec, status = {} } = host;
  if (host.metadata.deletionTimestamp !== undefined) return 'going';
  if (spec.consumerRef !== undefined) return isHeldBy(host, wanted.uid) ? undefined : 'held';
  if (abandonReason(host) !== undefined || status.state === 'abandoned') return 'abandoned';
  if (spec.release !== undefined || status.state === 'releasing') return 'releasing';
  if (status.state === 'quarantined' || isQuarantined(status, now)) return 'quarantined';
  if (spec.zone !== wanted.zone) return 'other zone';
  if (status.type !== wanted.type) return 'other type';
  if (!matchesFamily({ name: status.osImage ?? '', family: status.osFamily ?? '' }, wanted.os)) return 'other os';
  if (!isRecorded(wanted, host) && !isInPool(wanted, status)) return 'not in the pool';
  // Also for a recorded host: it may be reinstalling.
  return status.serverStatus === 'ready' ? undefined : 'not ready';
};

const isInPool = ({ poolPrefix }: HostRequirements, { state, name = '' }: NonNullable<MacHost['status']>): boolean =>
  state === 'pool' && poolPrefix !== '' && name.startsWith(poolPrefix);

type Choice =
  | {
      readonly kind: 'chosen';
      /** `held`: the machine holds it already. `recorded`: the machine held it, but its status is lost. `free`: it is in the pool. */
      readonly reason: 'held' | 'recorded' | 'free';
      readonly host: Host;
    }
  /** The recorded host is usable, but not now. Taking another one could mean holding two. */
  | { readonly kind: 'wait'; readonly host: Host; readonly message: string }
  | { readonly kind: 'none'; readonly message: string };

interface Candidate {
  readonly host: Host;
  readonly blockedBy: ClaimBlocker | undefined;
}

/**
 * Which host a machine without one should reserve. First the one that it holds, then the recorded one, then the pool: hosts with the fewest
 * failures, and of these the one that has been there longest, so that all are used in turn.
 */
export const chooseHost = (wanted: HostRequirements, supply: Supply): Choice => {
  const { now, isReservedByOther } = supply;
  const held = supply.candidates.filter((host) => isHeldBy(host, wanted.uid)).sort(byName)[0];
  if (held) return { kind: 'chosen', reason: 'held', host: held };

  const candidates = supply.candidates
    .filter(({ metadata }) => !isReservedByOther(metadata.name))
    .map((host): Candidate => ({ host, blockedBy: claimBlockedBy(wanted, host, now) }));
  const isFree = ({ blockedBy }: Candidate): boolean => blockedBy === undefined;

  const mine = candidates.filter(({ host }) => isRecorded(wanted, host));
  const recorded = pickFirst(mine.filter(isFree));
  if (recorded) return { kind: 'chosen', reason: 'recorded', host: recorded };
  const busy = pickFirst(mine.filter(({ blockedBy }) => blockedBy === 'not ready'));
  if (busy) return { kind: 'wait', host: busy, message: waitMessage(wanted, busy) };
  const free = pickFirst(candidates.filter(isFree));
  if (free) return { kind: 'chosen', reason: 'free', host: free };
  return { kind: 'none', message: noAvailableHostMessage(wanted, supply) };
};

const waitMessage = ({ name }: HostRequirements, { metadata, status }: Host): string =>
  `The server ${metadata.name} is recorded as that of ${name}, but is ${status?.serverStatus ?? 'in an unknown state'}. It is taken once it is ready.`;

/** Does not sort: the cost of a claim must not grow faster than the pool. */
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

/** A host of unknown age comes last. Not Infinity, because the difference of two infinities is NaN. */
const sinceOf = ({ status }: Host): number => {
  const since = Date.parse(status?.since ?? '');
  return Number.isNaN(since) ? Number.MAX_SAFE_INTEGER : since;
};

const byName = (a: Host, b: Host): number => (a.metadata.name < b.metadata.name ? -1 : 1);

/** Further groups are summed up, to keep the condition readable. */
const maxGroups = 12;

/**
 * What was wanted, and what there is instead: counts by type, macOS and state. Contains no time and no name, so that it changes only with
 * the pool.
 */
const noAvailableHostMessage = (
  wanted: HostRequirements,
  { hosts, counts, isReservedByOther, now }: Supply,
): string => {
  const sought = `No ${wanted.type} with ${wanted.os} is free in ${wanted.zone} whose name begins with ${wanted.poolPrefix || '(no prefix)'}.`;
  const groups = new Map<string, number>();
  const add = (label: string, count: number): unknown => groups.set(label, (groups.get(label) ?? 0) + count);
  for (const host of hosts()) {
    const isReserved = isReservedByOther(host.metadata.name);
    add(`${kindOf(host)} ${situationOf(wanted, host, claimBlockedBy(wanted, host, now), isReserved)}`, 1);
  }
  for (const [summary, count] of counts()) {
    const [label = '', zone = '', pool = ''] = summary.split(separator);
    if (pool !== poolKey(wanted.zone, wanted.type)) add(`${label}${placeOf(zone || wanted.zone, wanted)}`, count);
  }
  if (groups.size === 0)
    return `${sought} There is no Mac at all, or none has been listed yet: order one, and give it a name that begins so.`;
  // The most frequent first, then by text, so that the order of the cache does not matter.
  const sorted = [...groups].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1));
  const shown = sorted.slice(0, maxGroups).map(([label, count]) => `${count} ${label}`);
  const rest = sorted.slice(maxGroups).reduce((sum, [, count]) => sum + count, 0);
  const listed = [...shown, ...(rest > 0 ? [`${rest} of other kinds`] : [])].join(', ');
  return `${sought} Instead there are: ${listed}. Order one, free one, or change what is asked for; it is tried again by itself.`;
};

/** In a pool, and nobody holds it. */
export const isInAnyPool = ({ spec, status }: MacHost): boolean =>
  status?.state === 'pool' && spec.consumerRef === undefined;

const separator = '\n';
const poolKey = (zone: string, type = ''): string => `${zone}/${type}`;
const anywhere: HostRequirements = {
  name: '',
  uid: '',
  zone: '',
  type: '',
  os: '',
  poolPrefix: '',
  recordedServer: undefined,
};

/**
 * What a machine that wants a Mac of another kind is told of it, its zone if that matters, and its zone and type if it is in a pool. Depends
 * on the object alone, so that an index can count it.
 */
export const hostSummary = (host: Host): string => {
  const { spec, status } = host;
  const blockedBy = claimBlockedBy(anywhere, host, Infinity);
  const label = `${kindOf(host)} ${situationOf(spec, host, blockedBy, false)}`;
  const zone = blockedBy === 'other zone' ? spec.zone : '';
  return [label, zone, isInAnyPool(host) ? poolKey(spec.zone, status?.type) : ''].join(separator);
};

const kindOf = ({ status }: Host): string =>
  `${status?.type ?? 'unknown type'} with ${status?.osFamily ?? 'unknown OS'}`;

const placeOf = (zone: string, wanted: Pick<HostRequirements, 'zone'>): string =>
  zone === wanted.zone ? '' : ` in ${zone}`;

const situationOf = (
  wanted: Pick<HostRequirements, 'zone'>,
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
    case undefined:
      return `${isReserved ? 'reserved by another machine' : stateOf(host)}${placeOf(spec.zone, wanted)}`;
  }
};

const stateOf = ({ status }: Host): string =>
  status?.state === 'pool' ? 'free' : (status?.state ?? 'not looked at yet');
