import { getCondition, isConditionTrue, type Live } from '@tartan/kube';
import type { Machine, MachineSetSpec } from '../kinds.ts';
import { annotations } from '../names.ts';

type Order = NonNullable<NonNullable<MachineSetSpec['deletion']>['order']>;

const isHealthy = ({ status }: Machine): boolean =>
  status?.nodeRef !== undefined &&
  getCondition(status.conditions, 'NodeHealthy')?.status !== 'False' &&
  (getCondition(status.conditions, 'HealthCheckSucceeded') === undefined ||
    isConditionTrue(status.conditions, 'HealthCheckSucceeded'));

/** The higher, the sooner it goes. */
const urgency = (machine: Live<Machine>): number => {
  if (machine.metadata.deletionTimestamp !== undefined) return 3;
  if (annotations.deleteMachine in (machine.metadata.annotations ?? {})) return 2;
  return isHealthy(machine) ? 0 : 1;
};

/** By what remains: age if the MachineSet cares, else the name, so that a second pass takes the same ones. */
const compare =
  (order: Order) =>
  (a: Live<Machine>, b: Live<Machine>): number => {
    const more = urgency(b) - urgency(a);
    if (more !== 0) return more;
    const [born, other] = [a.metadata.creationTimestamp, b.metadata.creationTimestamp];
    if (order !== 'Random' && born !== other) return born < other === (order === 'Oldest') ? -1 : 1;
    return a.metadata.name < b.metadata.name ? -1 : 1;
  };

/** All of them, those that go first at the front. */
export const inDeletionOrder = (machines: readonly Live<Machine>[], order: Order = 'Random'): Live<Machine>[] =>
  machines.toSorted(compare(order));
