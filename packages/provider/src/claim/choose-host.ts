import type { Host } from '../controller-deps.ts';
import {
  claimBlockedBy,
  type ClaimBlocker,
  type HostRequirements,
  isHeldBy,
  isRecorded,
  type Supply,
} from './suitability.ts';

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
