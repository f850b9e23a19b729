import { sleep } from '@tartan/kube/clock';
import type { SimulatedServer } from '@tartan/sim-scaleway';
import type { Connection } from '../../cluster/cluster.ts';
import { fleetView } from '../../fleet/view.ts';
import { followWorld } from '../../world/follow.ts';
import { observeWorld, type World } from '../../world/observe.ts';
import { progressOf } from './mac-progress.ts';
import { stepsOnMac } from './steps-on-mac.ts';
import type { UpView } from './up-view.ts';

/** A disk tells nobody that it has changed. */
const lookEvery = 100;
/** Ages in the table. */
const tickMs = 5000;

export interface FollowedFleet {
  readonly connection: Pick<Connection, 'client' | 'clock'>;
  readonly servers: () => readonly Pick<SimulatedServer, 'id' | 'mac'>[];
  readonly view: Pick<UpView, 'progress' | 'fleet'>;
}

/** Keeps a view up to date with machines and the Macs that they run on, until the signal fires. */
export const followFleet = async ({ connection, servers, view }: FollowedFleet, signal: AbortSignal): Promise<void> => {
  let world = await observeWorld(connection, {}, signal);
  const show = (now: World): void => {
    world = now;
    view.fleet(fleetView.pageOf(fleetView.documentOf(now)));
    look();
  };
  const look = (): void => {
    const byId = new Map(servers().map((server) => [server.id, server]));
    view.progress(
      progressOf(world, (host, isBuilder) => stepsOnMac(host === undefined ? undefined : byId.get(host), isBuilder)),
    );
  };
  const looking = async (): Promise<void> => {
    while (!signal.aborted) {
      look();
      await sleep(connection.clock, lookEvery, signal);
    }
  };
  await Promise.all([followWorld(connection, {}, world, { show, everyMs: tickMs }, signal), looking()]);
};
