import type { Host, Listers } from '../controller-deps.ts';

/** What a machine that waits for a free Mac looks for. */
export interface Demand {
  /** Since when it waits. */
  readonly since: number;
  /** The same for machines that every Mac fits alike. */
  readonly group: string;
  fits(host: Host): boolean;
}

/** How a pass ended, as far as Macs are concerned. */
export interface PassResult {
  /** The machine waits for a free Mac. Otherwise a free Mac does not help it. */
  readonly waits: boolean;
  /** The server that it has reserved. */
  readonly serverID: string | undefined;
}

export interface HostOfferSources {
  readonly macHosts: Pick<Listers['macHosts'], 'get'>;
  readonly machines: Pick<Listers['machines'], 'byIndex'>;
}

/**
 * Decides which waiting machine is woken for which free Mac.
 * Flow: a pass that finds no free Mac makes its machine wait. A Mac that becomes free is offered to the machine that has waited longest of
 * those that it fits, and wakes only that one. If the pass of that machine ends without reserving the Mac, the next one is woken.
 * Guarantees: a Mac is offered to one machine at a time, so a free Mac costs one pass, however many machines wait, and two passes of this
 * process do not reserve the same Mac. No wake-up is lost: while machines wait that a free Mac fits, it is offered to one of them, or each
 * of them has declined it since it last changed.
 * Assumptions: a machine that declines a Mac which it needs is reconciled again by itself, after a failure or a conflict.
 * Caveats: only saves passes and requests. Which machine gets a Mac is decided by the two compare-and-swaps of a claim.
 * Who waits is remembered, and not read from the cache. The index `withoutHost` has all machines without a Mac: each free Mac would wake
 * those in vain that wait for a key, or for their Cluster. `waitingForHostSince` is there too late: a Mac that becomes free between a pass
 * and its status in the cache would wake nobody.
 */
export const createHostOffers = ({ macHosts, machines }: HostOfferSources) => {
  /** By key of the machine. */
  const waiting = new Map<string, Demand>();
  /** The machine that looks at it or is about to reserve it, by server. */
  const offers = new Map<string, string>();
  /** The machines that have not taken a Mac that was offered to them, by server. */
  const declined = new Map<string, Set<string>>();
  const subscribers = new Set<(key: string) => void>();
  const wake = (key: string): void => {
    for (const subscriber of subscribers) subscriber(key);
  };

  const offer = (serverID: string): void => {
    const host = macHosts.get(serverID);
    const isFree =
      host !== undefined && host.spec.consumerRef === undefined && machines.byIndex('serverID', serverID).length === 0;
    if (!isFree) return void offers.delete(serverID);
    const current = offers.get(serverID);
    // What its pass has decided may depend on the Mac as it was before.
    if (current !== undefined) return wake(current);
    const judged = new Map<string, boolean>();
    for (const [key, { group, fits }] of [...waiting].sort(longestFirst)) {
      const isFit = judged.get(group) ?? fits(host);
      judged.set(group, isFit);
      if (!isFit || declined.get(serverID)?.has(key)) continue;
      waiting.delete(key);
      offers.set(serverID, key);
      return wake(key);
    }
  };
  const decline = (serverID: string, key: string): void => {
    offers.delete(serverID);
    declined.set(serverID, (declined.get(serverID) ?? new Set()).add(key));
    offer(serverID);
  };

  return {
    /** Whether another machine is about to look at that Mac. */
    isOfferedToOther: (serverID: string, key: string): boolean => {
      const to = offers.get(serverID);
      return to !== undefined && to !== key;
    },
    /** A pass is about to reserve that Mac. Call it in the same turn in which the Mac was found free. */
    choose: (key: string, serverID: string): void => {
      waiting.delete(key);
      offers.set(serverID, key);
    },
    /** A pass has found no free Mac. Call it in the same turn. */
    wait: (key: string, demand: Demand): void => {
      waiting.set(key, demand);
      // It has not looked at the Macs that are offered to others. It may have declined them earlier, for example when a pass failed.
      for (const [id, to] of offers) if (to !== key) declined.get(id)?.delete(key);
    },
    /** Call it after every pass of a machine, also after one that failed and one that found no machine. */
    passEnded: (key: string, { waits, serverID }: PassResult): void => {
      if (!waits) waiting.delete(key);
      for (const [id, to] of offers) if (to === key && id !== serverID) decline(id, key);
    },
    /** Call it when a Mac has changed, or the machine that had reserved it has gone or given it up. */
    hostChanged: (serverID: string): void => {
      declined.delete(serverID);
      offer(serverID);
    },
    /** `subscriber` gets the keys of machines to reconcile. Forgets all offers: they may never be looked at. Returns how to unsubscribe. */
    subscribe: (subscriber: (key: string) => void): (() => void) => {
      for (const memory of [waiting, offers, declined]) memory.clear();
      subscribers.add(subscriber);
      return () => void subscribers.delete(subscriber);
    },
  };
};

const longestFirst = ([, a]: [string, Demand], [, b]: [string, Demand]): number => a.since - b.since;

export type HostOffers = ReturnType<typeof createHostOffers>;
