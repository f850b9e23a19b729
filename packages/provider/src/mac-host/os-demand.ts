import { annotations } from '@tartan/api';
import type { Clock } from '@tartan/kube/clock';
import { isVersionedPin, osFamilyKey } from '@tartan/scaleway';
import { type ClaimBlocker, claimBlockedBy, type HostRequirements, isHeldBy } from '../claim/choose-host.ts';
import type { Host, Listers, Machine } from '../controller-deps.ts';
import type { ProviderOptions } from '../flags/provider-options.ts';
import { hardwareKey } from '../indexes.ts';
import { waitingSince } from '../machine/machine.ts';
import { refusalOf } from '../machine/observe/cluster.ts';
import { hostRequirements } from '../machine/observe/host.ts';
import { abandonReason, type Limits, type Release } from './snapshot.ts';
import { faultOf, isQuarantined, wipeOf } from './wipe.ts';

/**
 * Which macOS to reinstall Macs with, by what machines wait for.
 *
 * Every waiting machine gets one Mac, the one that has waited longest first:
 *
 *   1. a free Mac that it can claim, or one that is being reinstalled for it: nothing more to do;
 *   2. else one that is being released and whose reinstall was not requested yet: it is installed with what the machine wants;
 *   3. else a free Mac that lacks only that macOS: it is wiped again.
 *
 * Macs are assigned in a fixed order (by id), so that all managers get the same pairs from the same objects, and no machine has two Macs
 * reinstalled.
 */
interface Demand {
  /** Machines without a Mac, for this kind of Mac. */
  readonly machines: readonly Machine[];
  /** Macs of this kind that are free or being released, or held by one of these machines. */
  readonly hosts: () => readonly Host[];
  /** Whether a machine has reserved the Mac. */
  readonly isReserved: (id: string) => boolean;
  readonly defaultPoolPrefix: string | undefined;
  /** Whether the machine claims a Mac as soon as one is free. */
  readonly mayClaim: (machine: Machine) => boolean;
  readonly now: number;
}

export interface DemandDeps
  extends Pick<Listers, 'machines' | 'macHosts' | 'nodes'>,
    Pick<ProviderOptions, 'defaultPoolPrefix' | 'allowedPoolPrefixes' | 'machineNamespaces'> {
  readonly clock: Pick<Clock, 'now'>;
}

/** For the kind of Mac that the host is. A machine without a Mac gets none while any Node has its name. */
export const demandOf = (
  { machines, macHosts, nodes, clock, ...options }: DemandDeps,
  { spec, status }: Host,
): Demand => {
  const hardware = hardwareKey(spec.zone, status?.type);
  const waiting = machines.byIndex('withoutHost', hardware);
  const hosts = (): Host[] => {
    const found = new Set([
      ...macHosts.byIndex('pool', hardware),
      ...macHosts.byIndex('releasing', hardware),
      ...waiting.flatMap(({ metadata }) => macHosts.byIndex('consumer', metadata.uid)),
    ]);
    return [...found].filter((host) => hardwareKey(host.spec.zone, host.status?.type) === hardware);
  };
  return {
    machines: waiting,
    hosts,
    isReserved: (id) => machines.byIndex('serverID', id).length > 0,
    defaultPoolPrefix: options.defaultPoolPrefix,
    mayClaim: (machine) =>
      options.allowedPoolPrefixes.includes(hostRequirements(machine, options.defaultPoolPrefix).poolPrefix) &&
      refusalOf(machine, options.machineNamespaces) === undefined &&
      nodes.get(machine.metadata.name) === undefined,
    now: clock.now(),
  };
};

interface WaitingMachine {
  readonly wanted: HostRequirements;
  /** Since when it reports that no Mac fits. Undefined: it has not looked yet. */
  readonly since: number | undefined;
}

/** Machines that have no Mac and may claim one. A machine with a providerID can no longer choose. */
const waitingMachines = ({ machines, defaultPoolPrefix, mayClaim }: Demand): WaitingMachine[] =>
  machines
    .filter(
      ({ metadata, spec, status }) =>
        metadata.deletionTimestamp === undefined &&
        !(annotations.paused in (metadata.annotations ?? {})) &&
        !status?.serverID &&
        !spec.providerID &&
        !isVersionedPin(spec.os),
    )
    .filter(mayClaim)
    .map((machine) => ({ wanted: hostRequirements(machine, defaultPoolPrefix), since: waitingSince(machine) }))
    .toSorted(longestFirst);

const longestFirst = (a: WaitingMachine, b: WaitingMachine): number =>
  (a.since ?? Number.MAX_SAFE_INTEGER) - (b.since ?? Number.MAX_SAFE_INTEGER) || (a.wanted.uid < b.wanted.uid ? -1 : 1);

/** The same Macs serve all machines of one kind, except a Mac that one of them holds. */
const kindOf = ({ os, poolPrefix }: HostRequirements): string => `${os} ${poolPrefix}`;

/**
 * Assigns to each machine the first Mac that serves it and is left. Returns the machines without one. `hosts` are in the order of their ids.
 * Each kind of machine goes through them once, however many machines there are.
 */
export const assignHosts = (
  waiting: readonly WaitingMachine[],
  hosts: readonly Host[],
  serves: (waiting: WaitingMachine, host: Host) => boolean,
  taken: Map<string, WaitingMachine>,
): WaitingMachine[] => {
  const isLeft = (each: WaitingMachine, host: Host): boolean => !taken.has(host.metadata.name) && serves(each, host);
  const held = Map.groupBy(hosts, ({ spec }) => spec.consumerRef?.uid);
  /** All before were taken, or do not serve that kind. */
  const firstLeft = new Map<string, number>();
  return waiting.filter((each) => {
    const { wanted } = each;
    const anyOfKind = { ...each, wanted: { ...wanted, uid: '' } };
    let at = firstLeft.get(kindOf(wanted)) ?? 0;
    for (let host = hosts[at]; host !== undefined && !isLeft(anyOfKind, host); host = hosts[at]) at += 1;
    firstLeft.set(kindOf(wanted), at);
    const own = held.get(wanted.uid)?.find((host) => isLeft(each, host));
    const host = [hosts[at], own].filter((one) => one !== undefined).toSorted(byID)[0];
    if (host) taken.set(host.metadata.name, each);
    return host === undefined;
  });
};

const byID = (a: Host, b: Host): number => (a.metadata.name < b.metadata.name ? -1 : 1);

interface Assignment {
  /** The machine that a Mac is assigned to, by the id of the Mac. */
  readonly taken: ReadonlyMap<string, WaitingMachine>;
  readonly hosts: readonly Host[];
  readonly unmet: readonly WaitingMachine[];
}

/** The first two steps. `deciding`: the Mac whose reinstall is about to be requested, even if it was before. */
const assign = (demand: Demand, deciding?: string): Assignment => {
  const { now, isReserved } = demand;
  const hosts = demand.hosts().toSorted(byID);
  const waiting = waitingMachines(demand);
  const taken = new Map<string, WaitingMachine>();
  const isFree = ({ wanted }: WaitingMachine, host: Host): boolean =>
    isHeldBy(host, wanted.uid) || (!isReserved(host.metadata.name) && claimBlockedBy(wanted, host, now) === undefined);
  const isComing = ({ wanted }: WaitingMachine, host: Host): boolean => {
    const release = releaseFor(wanted, host, now);
    return release !== undefined && host.metadata.name !== deciding && isInstalling(release, wanted.os, host.status);
  };
  const isUndecided = ({ wanted }: WaitingMachine, host: Host): boolean => {
    const release = releaseFor(wanted, host, now);
    return (
      release !== undefined && (host.metadata.name === deciding || wipeOf(release, host.status ?? {}) === undefined)
    );
  };
  const hasOwnFamily = ({ wanted }: WaitingMachine, { spec }: Host): boolean =>
    osFamilyKey(spec.release?.family ?? '') === osFamilyKey(wanted.os);

  const steps = [
    (each: WaitingMachine, host: Host) => isFree(each, host) || isComing(each, host),
    (each: WaitingMachine, host: Host) => hasOwnFamily(each, host) && isUndecided(each, host),
    isUndecided,
  ];
  const unmet = steps.reduce((left, serves) => assignHosts(left, hosts, serves, taken), waiting);
  return { taken, hosts, unmet };
};

/** The release after which the Mac will be in the machine's pool and can be claimed. Undefined: there is none. */
const releaseFor = (wanted: HostRequirements, host: Host, now: number): Release | undefined => {
  const { release } = host.spec;
  const fits =
    release?.poolPrefix.startsWith(wanted.poolPrefix) &&
    faultOf(release) === undefined &&
    !isQuarantined(host.status ?? {}, now) &&
    host.metadata.deletionTimestamp === undefined &&
    abandonReason(host) === undefined;
  return fits ? release : undefined;
};

/** Its reinstall with that family was requested, and neither refused nor given up. */
const isInstalling = (release: Release, os: string, status: Host['status'] = {}): boolean => {
  const wipe = wipeOf(release, status);
  const { osRequested } = status;
  return (
    wipe !== undefined &&
    wipe.refusedAt === undefined &&
    wipe.stuckAt === undefined &&
    osRequested !== undefined &&
    Date.parse(osRequested.at) >= Date.parse(release.requestedAt) &&
    osFamilyKey(osRequested.family) === osFamilyKey(os)
  );
};

/** The family for a reinstall that is about to be requested: what a waiting machine wants, else that of the release. */
export const familyToInstall = (host: Host, demand: Demand): string | undefined => {
  const { taken } = assign(demand, host.metadata.name);
  return taken.get(host.metadata.name)?.wanted.os ?? host.spec.release?.family;
};

/** How long a Mac is not reinstalled again for a family that it did not get: Scaleway has no image of it, or does not report it. */
const osRetryMs = 24 * 60 * 60_000;

/** What should happen to a free Mac, for `Snapshot.otherOS`. */
export const otherOSFor = (
  host: Host,
  demandOfKind: () => Demand,
  { demandMs, reportMs }: Limits,
): { family: string | undefined; inMs: number } | undefined => {
  const { spec, metadata } = host;
  if (spec.release || spec.consumerRef || abandonReason(host) !== undefined) return undefined;
  const demand = demandOfKind();
  if (!demand.machines.some((machine) => waitingSince(machine) !== undefined)) return undefined;
  const none = { family: undefined, inMs: reportMs };
  const kinds = new Map(
    demand.machines.map((machine) => {
      const wanted = hostRequirements(machine, demand.defaultPoolPrefix);
      return [kindOf(wanted), wanted];
    }),
  );
  // Before all Macs and machines are looked at.
  if (!kinds.values().some((wanted) => lacksOnlyThatOS(wanted, host, demand.now))) return none;
  const { hosts, unmet, taken } = assign(demand);
  if (unmet.length === 0) return undefined;
  const assigned = new Map(taken);
  const isOther = (each: WaitingMachine, one: Host): boolean =>
    !demand.isReserved(one.metadata.name) && lacksOnlyThatOS(each.wanted, one, demand.now);
  assignHosts(unmet, hosts, isOther, assigned);
  const mine = taken.has(metadata.name) ? undefined : assigned.get(metadata.name);
  // No Mac is reinstalled for a machine that has not looked yet; it comes last, so it takes none from the others.
  // Time alone may change the answer: a Mac that is being reinstalled may turn out to be stuck.
  if (mine?.since === undefined) return none;
  return { family: osFamilyKey(mine.wanted.os), inMs: Math.max(0, mine.since + demandMs - demand.now) };
};

/** A Mac that has the wanted macOS and can be claimed is assigned before. */
const lacksOnlyThatOS = (wanted: HostRequirements, host: Host, now: number): boolean => {
  const { osRequested } = host.status ?? {};
  const wasTried =
    osRequested !== undefined &&
    osFamilyKey(osRequested.family) === osFamilyKey(wanted.os) &&
    now - Date.parse(osRequested.at) < osRetryMs;
  return !wasTried && blockedByElse(wanted, host, now) === undefined;
};

const blockedByElse = (wanted: HostRequirements, host: Host, now: number): ClaimBlocker | undefined =>
  claimBlockedBy(wanted, { ...host, status: { ...host.status, osFamily: wanted.os } }, now);

/** The free Macs that the machine could claim if they had its macOS, or once they are ready. */
export const hostsOfOtherOS = (
  { macHosts, clock, defaultPoolPrefix }: Pick<DemandDeps, 'macHosts' | 'clock' | 'defaultPoolPrefix'>,
  machine: Machine,
): Host[] => {
  const wanted = hostRequirements(machine, defaultPoolPrefix);
  return macHosts.byIndex('pool', hardwareKey(wanted.zone, wanted.type)).filter((host) => {
    const blockedBy = blockedByElse(wanted, host, clock.now());
    return blockedBy === undefined || blockedBy === 'not ready';
  });
};
