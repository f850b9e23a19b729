import { sleep } from '@tartan/kube/clock';
import type { SimulatedServer } from '@tartan/sim-scaleway';
import type { Connection } from '../../cluster/connection.ts';
import { type ClusterState, readClusterState, watchClusterState } from '../../cluster/state.ts';
import { fleetView } from '../../views/fleet.ts';
import { progressOf, stepsOnMac } from './mac-progress.ts';
import type { UpView } from './up-view.ts';

/** Stamps on disks cannot be watched. */
const diskPollMs = 100;
/** Ages in the table change. */
const tickMs = 5000;

export interface WatchFleetOptions {
  readonly connection: Pick<Connection, 'client' | 'clock'>;
  readonly servers: () => readonly Pick<SimulatedServer, 'id' | 'mac'>[];
  readonly view: Pick<UpView, 'progress' | 'fleet'>;
}

/** Updates a view with machines and their Macs until the signal fires. */
export const watchFleet = async (
  { connection, servers, view }: WatchFleetOptions,
  signal: AbortSignal,
): Promise<void> => {
  let state = await readClusterState(connection, {}, signal);
  const onChange = (now: ClusterState): void => {
    state = now;
    view.fleet(fleetView.pageOf(fleetView.documentOf(now)));
    update();
  };
  const update = (): void => {
    const byId = new Map(servers().map((server) => [server.id, server]));
    view.progress(
      progressOf(state, (host, isBuilder) => stepsOnMac(host === undefined ? undefined : byId.get(host), isBuilder)),
    );
  };
  const polling = async (): Promise<void> => {
    while (!signal.aborted) {
      update();
      await sleep(connection.clock, diskPollMs, signal);
    }
  };
  await Promise.all([watchClusterState(connection, {}, state, { onChange, everyMs: tickMs }, signal), polling()]);
};
