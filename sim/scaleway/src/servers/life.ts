import type { Clock } from '@tartan/kube/clock';
import type { Mac } from '@tartan/sim-mac';
import type { ScalewayFaults } from '../scaleway.ts';
import type { Image } from './images.ts';
import { newPassword } from './new-password.ts';
import type { ServerRecord } from './server-record.ts';

/** `provider.md` §0.3: one to two minutes, five to fifteen. */
const rebootTakes = 90_000;
const reinstallTakes = 10 * 60_000;

export interface LifeOptions {
  readonly clock: Clock;
  readonly pace: number;
  readonly faults: Pick<ScalewayFaults, 'reinstallFails' | 'reinstallDoesNotWipe'>;
  /** Registered for the project now. A key that comes later reaches no Mac before its next reinstall (I-30). */
  readonly authorizedKeys: (projectID: string) => readonly string[];
}

/** What happens to servers in time, and to the Macs behind them. */
export interface Life {
  reboot(server: ServerRecord): void;
  reinstall(server: ServerRecord, image: Image): void;
  /** The end of one server. */
  remove(server: ServerRecord): void;
  /** Nothing happens any more; every Mac of them is stopped. */
  end(servers: Iterable<ServerRecord>): Promise<void>;
}

/**
 * A state lasts its time, and longer if the Mac behind takes longer. The Mac of a reinstall is wiped when the reinstall is taken, not
 * when it ends: from then on nothing of the old system can be met.
 */
export const createLife = ({ clock, pace, faults, authorizedKeys }: LifeOptions): Life => {
  const timers = new Set<() => void>();
  const works = new Set<Promise<void>>();

  const track = (work: Promise<void>): void => {
    works.add(work);
    const forget = (): unknown => works.delete(work);
    work.then(forget, forget);
  };

  /** Puts the server into `state` until time and Mac are done, unless somebody has changed its state meanwhile. */
  const pass = (
    server: ServerRecord,
    state: string,
    lasts: number,
    mac: Promise<void> | undefined,
    then: () => string,
  ): void => {
    const change = (status: string): void => {
      server.status = status;
      server.updatedAt = clock.now();
    };
    change(state);
    // A Mac that does not come back is a server that failed.
    const isUp = mac?.then(
      () => true,
      () => false,
    );
    if (isUp) track(isUp.then(() => undefined));
    const end = (up: boolean): void => {
      if (server.status === state) change(up ? then() : 'error');
    };
    const takeBack = clock.after(lasts * pace, () => {
      timers.delete(takeBack);
      if (isUp) track(isUp.then(end));
      else end(true);
    });
    timers.add(takeBack);
  };

  /** Wiped halfway and not heard of again, until a reinstall that works. A fault that somebody else put there is left alone. */
  const unheard = new WeakSet<Mac>();
  const wipe = async (mac: Mac, server: ServerRecord, fails: boolean): Promise<void> => {
    if (fails) {
      mac.faults.ssh = 'refuse';
      unheard.add(mac);
    } else if (unheard.delete(mac)) {
      mac.faults.ssh = 'normal';
    }
    await mac.reinstall({ authorizedKeys: authorizedKeys(server.projectID), password: server.password });
  };

  return {
    reboot: (server) => {
      const before = server.status;
      pass(server, 'rebooting', rebootTakes, server.mac?.reboot(), () => before);
    },
    reinstall: (server, image) => {
      const { mac } = server;
      const isKept = faults.reinstallDoesNotWipe.has(server.id) || mac?.faults.reinstallDoesNotWipe === true;
      if (isKept) {
        pass(server, 'reinstalling', reinstallTakes, mac?.reboot(), () => 'ready');
        return;
      }
      const fails = faults.reinstallFails.has(server.id);
      server.password = newPassword();
      pass(server, 'reinstalling', reinstallTakes, mac && wipe(mac, server, fails), () => {
        if (fails) return 'error';
        server.os = { ...image };
        server.installs += 1;
        return 'ready';
      });
    },
    remove: (server) => {
      // So that nothing that is still under way brings it back.
      server.status = 'unknown_status';
      if (server.mac) track(server.mac.stop());
    },
    end: async (servers) => {
      for (const takeBack of timers) takeBack();
      timers.clear();
      for (const { mac } of servers) if (mac) track(mac.stop());
      await Promise.allSettled(works);
    },
  };
};
