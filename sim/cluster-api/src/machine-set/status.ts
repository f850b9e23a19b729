import {
  countMachines,
  deletingCondition,
  machinesReady,
  machinesUpToDate,
  notRemediating,
  scalingConditions,
} from '../conditions/of-machines.ts';
import { pausedCondition } from '../conditions/paused.ts';
import { setConditions } from '../conditions/set-conditions.ts';
import type { MachineSetStatus } from '../kinds.ts';
import { selectorText } from '../selection/label-selector.ts';
import type { Snapshot } from './decide.ts';

const missing = ({ template }: Snapshot): string | undefined =>
  template && !template.object ? `${template.ref.kind} does not exist` : undefined;

export const statusOf = (snapshot: Snapshot): MachineSetStatus => {
  const { machineSet, machines, cluster, now } = snapshot;
  const { generation, deletionTimestamp } = machineSet.metadata;
  const deleting = deletionTimestamp !== undefined;
  const desired = deleting ? 0 : (machineSet.spec?.replicas ?? 1);
  return {
    ...machineSet.status,
    ...countMachines(machines),
    selector: selectorText(machineSet.spec?.selector),
    conditions: setConditions(
      machineSet.status?.conditions,
      [
        pausedCondition(cluster, 'MachineSet', machineSet),
        ...scalingConditions(machines.length, desired, missing(snapshot)),
        machinesReady(machines),
        machinesUpToDate(machines),
        notRemediating,
        deletingCondition(deleting, machines.length),
      ],
      { now, generation },
    ),
    ...(generation !== undefined && { observedGeneration: generation }),
  };
};

/** While nothing may be touched, only that is said. */
export const pausedStatus = ({ machineSet, cluster, now }: Snapshot): MachineSetStatus => ({
  ...machineSet.status,
  conditions: setConditions(machineSet.status?.conditions, [pausedCondition(cluster, 'MachineSet', machineSet)], {
    now,
    generation: machineSet.metadata.generation,
  }),
});
