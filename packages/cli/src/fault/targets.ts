import { machine, macHost, type ScalewayAppleSiliconMachine } from '@tartan/api';
import { type Live, nodes, pods } from '@tartan/kube';
import { fleetNamespace as namespace } from '@tartan/sim-fleet';
import type { Mac } from '@tartan/sim-mac';
import type { SimulatedServer } from '@tartan/sim-scaleway';
import { readinessOf } from '../cluster/macs.ts';
import { type FaultContext, PrerequisiteError } from './fault.ts';

/** A simulated server, and the Mac inside. */
export interface SimulatedHost {
  readonly server: SimulatedServer;
  readonly mac: Mac;
}

export interface ReadyMachine extends SimulatedHost {
  readonly name: string;
  readonly machine: Live<ScalewayAppleSiliconMachine>;
}

const hostOf = ({ simulation }: FaultContext, id: string | undefined): SimulatedHost[] => {
  const server = simulation.macs.scaleway.servers().find((each) => each.id === id);
  return server?.mac === undefined ? [] : [{ server, mac: server.mac }];
};

/** Faults of one Mac prefer Macs without other work. */
const fleetOrder = ['macos', 'runners', 'builders'];

/** Machines that are Ready and not being deleted, by fleet and name. */
export const readyMachines = async (context: FaultContext): Promise<ReadyMachine[]> => {
  const { items } = await context.simulation.controlPlane.client.list(machine.resource, { namespace });
  return items
    .filter(({ metadata, status }) => status?.ready === true && metadata.deletionTimestamp === undefined)
    .toSorted(
      (a, b) =>
        fleetOrder.indexOf(a.spec.fleetName ?? '') - fleetOrder.indexOf(b.spec.fleetName ?? '') ||
        (a.metadata.name < b.metadata.name ? -1 : 1),
    )
    .flatMap((each) =>
      hostOf(context, each.status?.serverID).map((host) => ({ ...host, name: each.metadata.name, machine: each })),
    );
};

/** The first, or the last with -1. */
export const pickReadyMachine = async (context: FaultContext, at: 0 | -1 = 0): Promise<ReadyMachine> => {
  const found = (await readyMachines(context)).at(at);
  if (found === undefined) throw new PrerequisiteError('No machine is Ready: wait until one is (kubectl get samm -w).');
  return found;
};

/** Virtual machines that macOS runs at once. */
const slots = 2;

export const pickMachineWithFreeSlot = async (context: FaultContext): Promise<ReadyMachine> => {
  const { items } = await context.simulation.controlPlane.client.list(pods);
  const takenOn = (name: string): number => items.filter(({ spec }) => spec?.nodeName === name).length;
  await pickReadyMachine(context);
  const free = (await readyMachines(context)).find(({ name }) => takenOn(name) < slots);
  if (free === undefined)
    throw new PrerequisiteError('Every Mac already runs two virtual machines: delete a Pod (kubectl get pods).');
  return free;
};

export const pickFreeHost = async (context: FaultContext): Promise<SimulatedHost> => {
  const { items } = await context.simulation.controlPlane.client.list(macHost.resource);
  const [free] = items
    .filter(({ status }) => status?.state === 'pool')
    .flatMap(({ metadata }) => hostOf(context, metadata.name));
  if (free === undefined)
    throw new PrerequisiteError('No Mac is free: start more Macs (tartan up --pool), or scale a fleet down.');
  return free;
};

export const listNodes = async ({ simulation }: FaultContext): Promise<readonly Live<Node>[]> =>
  (await simulation.controlPlane.client.list(nodes)).items;

type Node = NonNullable<(typeof nodes)['ofType']>;

export const isReadyNode = (node: Node): boolean => readinessOf(node) === 'True';
