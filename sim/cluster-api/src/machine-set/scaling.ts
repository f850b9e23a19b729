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

/** The higher, the sooner it goes. */
const deletionPriority = (machine: Live<Machine>): number => {
  if (machine.metadata.deletionTimestamp !== undefined) return 3;
  if (annotations.deleteMachine in (machine.metadata.annotations ?? {})) return 2;
  return isHealthy(machine) ? 0 : 1;
};

/** By what remains: age if the MachineSet cares, else the name, so that a second pass takes the same ones. */
const compare =
  (order: Order) =>
  (a: Live<Machine>, b: Live<Machine>): number => {
    const more = deletionPriority(b) - deletionPriority(a);
    if (more !== 0) return more;
    const [born, other] = [a.metadata.creationTimestamp, b.metadata.creationTimestamp];
    if (order !== 'Random' && born !== other) return born < other === (order === 'Oldest') ? -1 : 1;
    return a.metadata.name < b.metadata.name ? -1 : 1;
  };

/** All of them, those that go first at the front. */
const inDeletionOrder = (machines: readonly Live<Machine>[], order: Order = 'Random'): Live<Machine>[] =>
  machines.toSorted(compare(order));

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
  | { kind: 'none' }
  | { kind: 'create'; count: number }
  /** By name. */
  | { kind: 'delete'; machines: readonly string[] }
  /** It is to go, and no Machine is left. */
  | { kind: 'finish' };

const notDeleting = (machines: readonly Live<Machine>[]): Live<Machine>[] =>
  machines.filter(({ metadata }) => metadata.deletionTimestamp === undefined);

const deleteMachines = (machines: readonly Live<Machine>[]): Decision =>
  machines.length === 0
    ? { kind: 'none' }
    : { kind: 'delete', machines: machines.map(({ metadata }) => metadata.name) };

/**
 * As many Machines as are wanted. One that is being deleted still counts: its replacement comes when it is gone, since until then
 * its host is taken.
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
