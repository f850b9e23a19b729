import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { machine, macHost, type ScalewayAppleSiliconMachine } from '@tartan/api';
import type { Client, Live } from '@tartan/kube';
import { testDeadline } from '@tartan/kube/testing';
import {
  fleetNamespace as namespace,
  type Simulation,
  type SimulationOptions,
  startSimulation,
  untilMachinesReady,
} from '@tartan/sim-fleet';
import type { Mac } from '@tartan/sim-mac';
import type { SimulatedServer } from '@tartan/sim-scaleway';
import { createWaits, type Waits } from '../system/waits.ts';

export { namespace };

export type Machine = Live<ScalewayAppleSiliconMachine>;
export { isReady, runsAgent } from '../system/nodes.ts';

/** The whole simulated system, with helpers for the regressions. */
export interface Harness extends Simulation, Waits {
  readonly client: Client;
  /** Machines of all fleets, by name. */
  machines(): Promise<readonly Machine[]>;
  /** Waits until so many are Ready, and returns them. */
  readyMachines(count: number): Promise<readonly Machine[]>;
  serverOf(machine: Machine): SimulatedServer;
  macOf(machine: Machine): Mac;
  /** The MacHost of a server, once it is in this state. */
  hostIn(serverID: string, state: string): Promise<Live<NonNullable<(typeof macHost.resource)['ofType']>>>;
}

export const startHarness = async (options: Partial<SimulationOptions>): Promise<Harness> => {
  const folder = mkdtempSync(join(tmpdir(), 'tartan-regression-'));
  const clear = (): void => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  const simulation = await startSimulation({
    folder,
    pool: 1,
    fleets: { macos: 1, runners: 0 },
    pace: 0.01,
    scalewayPace: 0.004,
    ...options,
  }).catch((error: unknown) => {
    clear();
    throw error;
  });
  const { controlPlane, macs, failure } = simulation;
  const { client } = controlPlane;
  const waits = createWaits(client, failure);

  const machines = async (): Promise<readonly Machine[]> => {
    const { items } = await client.list(machine.resource, { namespace });
    return items.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  };
  const serverOf = ({ status }: Machine): SimulatedServer => {
    const found = macs.scaleway.servers().find(({ id }) => id === status?.serverID);
    if (found === undefined) throw new Error(`there is no server ${status?.serverID}`);
    return found;
  };
  return {
    ...simulation,
    client,
    machines,
    readyMachines: async (count) => {
      await Promise.race([failure, untilMachinesReady(client, count, testDeadline())]);
      return (await machines()).filter(({ status }) => status?.ready === true);
    },
    serverOf,
    macOf: (of) => {
      const { mac } = serverOf(of);
      if (mac === undefined) throw new Error(`no Mac is behind ${of.metadata.name}`);
      return mac;
    },
    ...waits,
    hostIn: (serverID, state) =>
      waits.waitFor(macHost.resource, serverID, `is ${state}`, ({ status }) => status?.state === state),
    stop: async () => {
      await simulation.stop();
      clear();
    },
  };
};
