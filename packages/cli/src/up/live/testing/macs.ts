import type { Page } from '../../../output/view.ts';
import { aClusterState, aHost, aNode, aPod, aReadyMachine, heldBy } from '../../../testing/objects.ts';
import { fleetView } from '../../../views/fleet.ts';

const hostOf = (number: number): string => `48d7f3f6-1c2b-4d5e-8f90-00000000000${number}`;

/** A page of `tartan fleet` with that many Ready machines, each with a virtual machine, and free Macs. */
export const fleetPage = (count: number, name = 'mac-', free = 0): Page => {
  const numbers = Array.from({ length: count }, (_, at) => at + 1);
  const state = aClusterState({
    machines: numbers.map((number) => aReadyMachine(`${name}${number}`, hostOf(number))),
    hosts: [
      ...numbers.map((number) => aHost(hostOf(number), { state: 'held' }, heldBy(`${name}${number}`))),
      ...Array.from({ length: free }, (_, at) => aHost(`free-${at}`)),
    ],
    nodes: numbers.map((number) => aNode(`${name}${number}`, { host: hostOf(number) })),
    pods: numbers.map((number) => aPod(`build-${number}`, `${name}${number}`)),
  });
  return fleetView.pageOf(fleetView.documentOf(state));
};
