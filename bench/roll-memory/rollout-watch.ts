import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { leaderElectionID } from '@tartan/api';
import { type Client, createInformer, createLogger, leases } from '@tartan/kube';
import { systemClock } from '@tartan/kube/clock';
import { fleetNamespace as namespace } from '@tartan/sim-fleet';
import type { SimulatedServer } from '@tartan/sim-scaleway';

export interface RolloutWatch {
  /** The longest time between two consecutive renewals of the lease, in milliseconds. */
  longestGap(): number;
  /** The highest number of Macs that were worked on at the same time. */
  mostAtOnce(): number;
  stop(): Promise<void>;
}

const lookEvery = 50;

/** A Mac is worked on while its lock is taken. The file with the highest number names the holder. */
const isWorkedOn = ({ mac }: SimulatedServer): boolean => {
  try {
    const folder = mac?.path('/var/db/tartan/lock') ?? '';
    const last = Math.max(...readdirSync(folder).map(Number).filter(Number.isInteger));
    return !readFileSync(join(folder, String(last)), 'utf8').startsWith('free');
  } catch {
    // The Mac was never worked on.
    return false;
  }
};

/** Watches a roll from outside: the lease of the manager, and the disks of the Macs. */
export const watchRollout = async (client: Client, servers: readonly SimulatedServer[]): Promise<RolloutWatch> => {
  const over = new AbortController();
  const renewals = new Map<string, number[]>();
  const cache = createInformer({
    client,
    resource: leases,
    namespace,
    clock: systemClock,
    random: Math.random,
    log: createLogger({ level: 'error', write: (line) => process.stderr.write(line), clock: systemClock }),
  });
  cache.subscribe((change) => {
    if (change.type === 'removed' || change.object.metadata.name !== leaderElectionID) return;
    const { holderIdentity, renewTime } = change.object.spec ?? {};
    const at = Date.parse(renewTime ?? '');
    if (!holderIdentity || Number.isNaN(at)) return;
    const before = renewals.get(holderIdentity) ?? [];
    if (before.at(-1) !== at) renewals.set(holderIdentity, [...before, at]);
  });
  const running = cache.run(over.signal);
  await cache.synced;
  let most = 0;
  const timer = setInterval(() => {
    most = Math.max(most, servers.filter(isWorkedOn).length);
  }, lookEvery);
  return {
    longestGap: () => {
      const gaps = [...renewals.values()].flatMap((times) =>
        times.slice(1).map((at, index) => at - (times[index] ?? 0)),
      );
      return gaps.length === 0 ? Number.NaN : Math.max(...gaps);
    },
    mostAtOnce: () => most,
    stop: async () => {
      clearInterval(timer);
      over.abort();
      await running;
    },
  };
};
