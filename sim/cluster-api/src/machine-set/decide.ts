import type { Live } from '@tartan/kube';
import type { External } from '../contract/externals.ts';
import type { Cluster, Machine, MachineDeployment, MachineSet } from '../kinds.ts';
import { annotations } from '../names.ts';
import { inDeletionOrder } from './deletion-order.ts';

export interface Snapshot {
  readonly machineSet: Live<MachineSet>;
  readonly cluster: Live<Cluster>;
  readonly machineDeployment: Live<MachineDeployment> | undefined;
  /** That it made, or that match and belong to nobody. Those of others are not among them. */
  readonly machines: readonly Live<Machine>[];
  /** What infrastructure is cloned from. */
  readonly template: External | undefined;
  readonly now: number;
}

export type Decision =
  | { kind: 'rest' }
  | { kind: 'create'; count: number }
  /** By name. */
  | { kind: 'delete'; machines: readonly string[] }
  /** It is to go, and no Machine is left. */
  | { kind: 'finish' };

const alive = (machines: readonly Live<Machine>[]): Live<Machine>[] =>
  machines.filter(({ metadata }) => metadata.deletionTimestamp === undefined);

const deleteThose = (machines: readonly Live<Machine>[]): Decision =>
  machines.length === 0
    ? { kind: 'rest' }
    : { kind: 'delete', machines: machines.map(({ metadata }) => metadata.name) };

/**
 * As many Machines as are wanted. One that is being deleted still counts: its replacement comes when it is gone, since until then
 * its host is taken.
 */
export const decide = ({ machineSet, machines }: Snapshot): Decision => {
  if (machineSet.metadata.deletionTimestamp !== undefined)
    return machines.length === 0 ? { kind: 'finish' } : deleteThose(alive(machines));
  const { replicas = 1, deletion } = machineSet.spec ?? {};
  const missing = replicas - machines.length;
  if (missing > 0)
    return machineSet.metadata.annotations?.[annotations.disableMachineCreate] === 'true'
      ? { kind: 'rest' }
      : { kind: 'create', count: missing };
  return deleteThose(alive(inDeletionOrder(machines, deletion?.order).slice(0, -missing)));
};
