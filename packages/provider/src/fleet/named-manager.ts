import type { Snapshot } from './decide.ts';
import { type MachineFacts, takesPart } from './machine-facts.ts';

/**
 * While the provider is upgraded two managers of different releases take turns in leading. Each rolls as it was told to; but only the
 * one that the fleet names may say that all is done, or that it cannot be done. Without that, `helm --wait` would hear the old one say
 * that all is well before the new one has looked.
 */

/** Whether what this manager says of the fleet is what somebody waits for. */
export const speaksFor = ({ fleet, releaseID }: Snapshot): boolean =>
  fleet?.releaseID === undefined || fleet.releaseID === releaseID;

/**
 * Machines of which the named manager has not said yet what they shall have: those that seem up to date may only be so by the word of the one
 * before it. What nobody works on, or is down, is no question of who leads.
 */
export const notYetPlanned = ({ fleet, machines }: Snapshot): MachineFacts[] => {
  const named = fleet?.releaseID;
  if (named === undefined) return [];
  return machines.filter(
    (machine) => takesPart(machine) && machine.ready && !machine.paused && machine.plannedBy !== named,
  );
};
