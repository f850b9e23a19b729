import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { annotations, machine, macHost, type ScalewayAppleSiliconMachine } from '@tartan/api';
import { type Client, type KubeObject, type Live, type nodes, type ObjectName, type Resource } from '@tartan/kube';
import type { Mac } from '@tartan/sim-mac';
import type { SimulatedServer } from '@tartan/sim-scaleway';
import { fleetNamespace as namespace } from '../../packages/cli/src/simulation/control-plane.ts';
import {
  type Simulation,
  type SimulationOptions,
  startSimulation,
} from '../../packages/cli/src/simulation/simulation.ts';
import { untilSeen } from '../system/until-seen.ts';

export { namespace };

export type Machine = Live<ScalewayAppleSiliconMachine>;
export type Node = Live<NonNullable<(typeof nodes)['ofType']>>;

export const isReady = ({ status }: Pick<Node, 'status'>): boolean =>
  (status?.conditions ?? []).some(({ type, status: is }) => type === 'Ready' && is === 'True');
export const runsAgent =
  (version: string) =>
  (node: Node): boolean =>
    isReady(node) && node.metadata.annotations?.[annotations.agentVersion] === `v${version}`;

/** The whole simulated system, and what a story asks of it. */
export interface Scene extends Simulation {
  readonly client: Client;
  /** Machines of all fleets, by name. */
  machines(): Promise<readonly Machine[]>;
  /** Waits until so many are Ready, and answers with them. */
  readyMachines(count: number): Promise<readonly Machine[]>;
  serverOf(machine: Machine): SimulatedServer;
  macOf(machine: Machine): Mac;
  waitFor<T extends KubeObject>(
    resource: Resource<T>,
    name: ObjectName | string,
    what: string,
    holds: (object: Live<T>) => boolean,
  ): Promise<Live<T>>;
  waitUntilGone<T extends KubeObject>(resource: Resource<T>, name: ObjectName | string): Promise<void>;
  /** The MacHost of a server, once it is in this state. */
  hostIn(serverID: string, state: string): Promise<Live<NonNullable<(typeof macHost.resource)['ofType']>>>;
}

/** No test is about time: this only ends one that hangs, also on a machine that is busy with others. */
const patienceMs = 120_000;

export const openScene = async (options: Partial<SimulationOptions>): Promise<Scene> => {
  const folder = mkdtempSync(join(tmpdir(), 'tartan-story-'));
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
  const { controlPlane, macs, broken } = simulation;
  const { client } = controlPlane;
  const fully = ({ namespaced }: { namespaced: boolean }, name: ObjectName | string): ObjectName =>
    typeof name === 'string' ? { name, ...(namespaced && { namespace }) } : name;
  const patience = (): AbortSignal => AbortSignal.timeout(patienceMs);

  const waitFor: Scene['waitFor'] = async (resource, name, what, holds) => {
    const seen = await Promise.race([
      broken,
      untilSeen({
        client,
        resource,
        name: fully(resource, name),
        what,
        holds: (object) => object !== undefined && holds(object),
        signal: patience(),
      }),
    ]);
    if (seen === undefined) throw new Error('unreachable: an object was asked for');
    return seen;
  };
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
      const all = new Map<string, Machine>();
      const signal = patience();
      const { items, resourceVersion } = await client.list(machine.resource, { namespace, signal });
      for (const item of items) all.set(item.metadata.name, item);
      const ready = (): Machine[] => [...all.values()].filter(({ status }) => status?.ready === true);
      const watching = async (): Promise<void> => {
        if (ready().length >= count) return;
        for await (const event of client.watch(machine.resource, { namespace, resourceVersion, signal })) {
          if (event.type === 'BOOKMARK') continue;
          if (event.type === 'DELETED') all.delete(event.object.metadata.name);
          else all.set(event.object.metadata.name, event.object);
          if (ready().length >= count) return;
        }
      };
      await Promise.race([broken, watching()]);
      return ready().toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
    },
    serverOf,
    macOf: (of) => {
      const { mac } = serverOf(of);
      if (mac === undefined) throw new Error(`no Mac is behind ${of.metadata.name}`);
      return mac;
    },
    waitFor,
    waitUntilGone: async (resource, name) => {
      const where = { client, resource, name: fully(resource, name), what: 'is gone' };
      const holds = (object: object | undefined): boolean => object === undefined;
      await Promise.race([broken, untilSeen({ ...where, holds, signal: patience() })]);
    },
    hostIn: (serverID, state) =>
      waitFor(macHost.resource, serverID, `is ${state}`, ({ status }) => status?.state === state),
    stop: async () => {
      await simulation.stop();
      clear();
    },
  };
};
