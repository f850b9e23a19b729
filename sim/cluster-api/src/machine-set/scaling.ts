import { getCondition, isConditionTrue, type Live } from '@tartan/kube';
import type { External } from '../external/object-tracker.ts';
import type { Cluster, Machine, MachineDeployment, MachineSet, MachineSetSpec } from '../kinds.ts';
import { annotations } from '../names.ts';

type Order = NonNullable<NonNullable<MachineSetSpec['deletion']>['order']>;

const isHealthy = ({ status }: Machine): boolean =>
  status?.nodeRef !== undefined &&
  getCondition(status.conditions, 'NodeHealthy')?.status !== 'False' &&
  (getCondition(status.conditions, 'HealthCheckSucceeded') === undefined ||
    isConditionTrue(status.conditions, 'HealthCheckSucceeded'));

/** Machines with a higher priority are deleted first. */
const deletionPriority = (machine: Live<Machine>): number => {
  if (machine.metadata.deletionTimestamp !== undefined) return 3;
  if (annotations.deleteMachine in (machine.metadata.annotations ?? {})) return 2;
  return isHealthy(machine) ? 0 : 1;
};

/** For equal priorities: by age if the MachineSet's order asks for it, else by name, so that a second pass chooses the same. */
const compare =
  (order: Order) =>
  (a: Live<Machine>, b: Live<Machine>): number => {
    const more = deletionPriority(b) - deletionPriority(a);
    if (more !== 0) return more;
    const [born, other] = [a.metadata.creationTimestamp, b.metadata.creationTimestamp];
    if (order !== 'Random' && born !== other) return born < other === (order === 'Oldest') ? -1 : 1;
    return a.metadata.name < b.metadata.name ? -1 : 1;
  };

/** All Machines, those to delete first at the front. */
const inDeletionOrder = (machines: readonly Live<Machine>[], order: Order = 'Random'): Live<Machine>[] =>
  machines.toSorted(compare(order));

export interface Snapshot {
  readonly machineSet: Live<MachineSet>;
  readonly cluster: Live<Cluster>;
  readonly machineDeployment: Live<MachineDeployment> | undefined;
  /** Machines that it owns, or that match and have no owner. */
  readonly machines: readonly Live<Machine>[];
  /** The template of the infrastructure. */
  readonly template: External | undefined;
  readonly now: number;
}

export type Decision =
  | { kind: 'none' }
  | { kind: 'create'; count: number }
  /** By name. */
  | { kind: 'delete'; machines: readonly string[] }
  /** It is being deleted, and no Machine is left. */
  | { kind: 'finish' };

const notDeleting = (machines: readonly Live<Machine>[]): Live<Machine>[] =>
  machines.filter(({ metadata }) => metadata.deletionTimestamp === undefined);

const deleteMachines = (machines: readonly Live<Machine>[]): Decision =>
  machines.length === 0
    ? { kind: 'none' }
    : { kind: 'delete', machines: machines.map(({ metadata }) => metadata.name) };

/**
 * Decides how to reach the desired number of Machines. One that is being deleted still counts: its replacement is created when it is gone,
 * since it occupies its host until then.
 */
export const decide = ({ machineSet, machines }: Snapshot): Decision => {
  if (machineSet.metadata.deletionTimestamp !== undefined)
    return machines.length === 0 ? { kind: 'finish' } : deleteMachines(notDeleting(machines));
  const { replicas = 1, deletion } = machineSet.spec ?? {};
  const missing = replicas - machines.length;
  if (missing > 0)
    return machineSet.metadata.annotations?.[annotations.disableMachineCreate] === 'true'
      ? { kind: 'none' }
      : { kind: 'create', count: missing };
  return deleteMachines(notDeleting(inDeletionOrder(machines, deletion?.order).slice(0, -missing)));
};
