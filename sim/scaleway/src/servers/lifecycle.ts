import type { Clock } from '@tartan/kube/clock';
import type { Mac } from '@tartan/sim-mac';
import type { ScalewayFaults } from '../scaleway.ts';
import type { Image } from './images.ts';
import { newPassword, type PendingOperation, remainingMs, type ServerRecord, statusDuring } from './server-record.ts';

export interface LifecycleOptions {
  readonly clock: Clock;
  readonly pace: number;
  readonly faults: Pick<ScalewayFaults, 'reinstallFails' | 'reinstallDoesNotWipe'>;
  /** The keys of the project now. A Mac gets a later key only at its next reinstall (INC-330). */
  readonly authorizedKeys: (projectID: string) => readonly string[];
  /** Called when a pending operation has ended. */
  readonly onChange: () => void;
}

/** Operations of servers over time, and of their Macs. */
export interface ServerLifecycle {
  reboot(server: ServerRecord): void;
  reinstall(server: ServerRecord, image: Image): void;
  /** Continues the operation that was pending when everything stopped. Its Mac has just booted. */
  resume(server: ServerRecord): void;
  /** Deletes one server. */
  remove(server: ServerRecord): void;
  /** Cancels all operations and stops all Macs. */
  end(servers: Iterable<ServerRecord>): Promise<void>;
}

/** A restart by Scaleway also powers on a Mac that is off. */
const restart = (mac: Mac): Promise<void> => (mac.isOn() ? mac.reboot() : mac.powerOn());

/**
 * A state lasts its duration, or longer if the Mac takes longer. A reinstall wipes the Mac when it is accepted, not when it ends: from then
 * on nothing of the old system is reachable.
 */
export const createLifecycle = ({
  clock,
  pace,
  faults,
  authorizedKeys,
  onChange,
}: LifecycleOptions): ServerLifecycle => {
  const timers = new Set<() => void>();
  const pending = new Set<Promise<void>>();
  let isEnded = false;

  const track = (work: Promise<void>): void => {
    pending.add(work);
    const forget = (): unknown => pending.delete(work);
    work.then(forget, forget);
  };

  const setStatus = (server: ServerRecord, status: string): void => {
    server.status = status;
    server.updatedAt = clock.now();
  };

  /** The state afterwards. The server of a Mac that does not start is in `error`. */
  const finish = (server: ServerRecord, work: PendingOperation, isUp: boolean): string => {
    if (!isUp) return 'error';
    if (work.kind === 'reboot') return work.before;
    if (work.outcome === 'failed') return 'error';
    if (work.outcome === 'wiped') {
      server.os = { ...work.image };
      server.installs += 1;
    }
    return 'ready';
  };

  /** Waits for the duration and for the Mac, unless a user has changed the server's state meanwhile. */
  const finishLater = (server: ServerRecord, work: PendingOperation, mac: Promise<void> | undefined): void => {
    const isUp = mac?.then(
      () => true,
      () => false,
    );
    if (isUp) track(isUp.then(() => undefined));
    const end = (up: boolean): void => {
      // At shutdown the Mac has not finished its operation: the next start continues it.
      if (isEnded || server.underWay !== work) return;
      server.underWay = undefined;
      if (server.status === statusDuring(work)) setStatus(server, finish(server, work, up));
      onChange();
    };
    const cancel = clock.after(remainingMs(work, clock.now(), pace), () => {
      timers.delete(cancel);
      if (isUp) track(isUp.then(end));
      else end(true);
    });
    timers.add(cancel);
  };

  const begin = (server: ServerRecord, work: PendingOperation, mac: Promise<void> | undefined): void => {
    server.underWay = work;
    setStatus(server, statusDuring(work));
    finishLater(server, work, mac);
  };

  /** Keeps a fault that a test has set. */
  const wipe = async (mac: Mac, server: ServerRecord, fails: boolean): Promise<void> => {
    if (fails) mac.faults.ssh = 'refuse';
    else if (server.unreachable === true) mac.faults.ssh = 'normal';
    server.unreachable = fails;
    await mac.reinstall({ authorizedKeys: authorizedKeys(server.projectID), password: server.password });
  };

  return {
    reboot: (server) => {
      const work: PendingOperation = { kind: 'reboot', since: clock.now(), before: server.status };
      begin(server, work, server.mac && restart(server.mac));
    },
    reinstall: (server, image) => {
      const { mac } = server;
      const since = clock.now();
      if (faults.reinstallDoesNotWipe.has(server.id) || mac?.faults.reinstallDoesNotWipe === true) {
        begin(server, { kind: 'reinstall', since, image, outcome: 'not wiped' }, mac && restart(mac));
        return;
      }
      const fails = faults.reinstallFails.has(server.id);
      server.password = newPassword();
      const work: PendingOperation = { kind: 'reinstall', since, image, outcome: fails ? 'failed' : 'wiped' };
      begin(server, work, mac && wipe(mac, server, fails));
    },
    resume: (server) => {
      const { mac, underWay: work } = server;
      if (mac && server.unreachable === true) mac.faults.ssh = 'refuse';
      if (work === undefined) return;
      const isWiped = work.kind === 'reinstall' && work.outcome !== 'not wiped';
      finishLater(server, work, isWiped && mac ? wipe(mac, server, work.outcome === 'failed') : undefined);
    },
    remove: (server) => {
      // So that no pending operation restores it.
      server.underWay = undefined;
      server.status = 'unknown_status';
      if (server.mac) track(server.mac.stop());
    },
    end: async (servers) => {
      isEnded = true;
      for (const takeBack of timers) takeBack();
      timers.clear();
      for (const { mac } of servers) if (mac) track(mac.stop());
      await Promise.allSettled(pending);
    },
  };
};
