import { type Condition, type ConditionUpdate, getCondition, isConditionTrue } from '@tartan/kube';
import { timestamp } from '@tartan/kube/clock';
import {
  mirrorCondition,
  setConditions,
  type SourceCondition,
  sourceCondition,
  summaryCondition,
} from '../conditions/operations.ts';
import { pausedCondition } from '../conditions/paused.ts';
import { addressesOf, failureDomainOf } from '../external/contract.ts';
import type { MachineStatus } from '../kinds.ts';
import { templateDifferences } from '../machine-deployment/machine-sets.ts';
import { deletingCondition, type DeletionOutcome } from './deletion.ts';
import { isDeleting, type Node, type Snapshot } from './snapshot.ts';

type ConditionContent = Pick<ConditionUpdate, 'status' | 'reason'> & { message: string };

const readyAndHealthy = (said: ConditionContent): ConditionUpdate[] =>
  ['NodeReady', 'NodeHealthy'].map((type) => ({ type, ...said }));

const readyReasons = { True: 'NodeReady', False: 'NodeNotReady', Unknown: 'NodeReadyUnknown' } as const;
const pressures = ['MemoryPressure', 'DiskPressure', 'PIDPressure'];

const conditionsOfNode = ({ status }: Node): ConditionUpdate[] => {
  const parts = ['Ready', ...pressures].map((type) => {
    const found = status?.conditions?.find((condition) => condition.type === type);
    const value = found?.status === 'True' || found?.status === 'False' ? found.status : 'Unknown';
    const message = found ? (found.message ?? '') || `Condition is ${found.status}` : 'Condition not yet reported';
    return { type, status: value, reason: found?.reason ?? '', message, label: `Node.${type}` } as const;
  });
  const [ready] = parts;
  const healthy = summaryCondition(parts, {
    type: 'NodeHealthy',
    reasons: { issue: 'NodeNotHealthy', unknown: 'NodeHealthyUnknown', info: 'NodeHealthy' },
    negative: pressures,
  });
  const value = ready?.status ?? 'Unknown';
  return [
    {
      type: 'NodeReady',
      status: value,
      reason: readyReasons[value],
      message: value === 'True' ? '' : `* Node.Ready: ${ready?.message}`,
    },
    // Core does not repeat the messages of a healthy Node.
    healthy.status === 'True' ? { ...healthy, message: '' } : healthy,
  ];
};

/** `NodeReady` and `NodeHealthy`. If one of the Node's four conditions is missing, the result is Unknown. */
const nodeConditions = (snapshot: Snapshot): ConditionUpdate[] => {
  const { machine, cluster, nodes, connected } = snapshot;
  const waiting = (message: string): ConditionUpdate[] =>
    readyAndHealthy({ status: 'Unknown', reason: 'InspectionFailed', message });
  if (cluster.status?.initialization?.infrastructureProvisioned !== true)
    return waiting('Waiting for Cluster status.initialization.infrastructureProvisioned to be true');
  if (!isConditionTrue(cluster.status.conditions, 'ControlPlaneInitialized'))
    return waiting('Waiting for Cluster control plane to be initialized');
  if (!connected)
    return readyAndHealthy({
      status: 'Unknown',
      reason: 'ConnectionDown',
      message: 'Remote connection not established yet',
    });
  const [node, ...more] = nodes;
  if (more.length > 0)
    return readyAndHealthy({
      status: 'Unknown',
      reason: 'InternalError',
      message: 'Please check controller logs for errors',
    });
  if (node) return conditionsOfNode(node);
  const name = machine.status?.nodeRef?.name;
  if (name !== undefined) {
    const still = isDeleting(machine) ? '' : ' while the Machine still exists';
    return readyAndHealthy({
      status: 'False',
      reason: 'NodeDeleted',
      message: `Node ${name} has been deleted${still}`,
    });
  }
  if (isDeleting(machine))
    return readyAndHealthy({ status: 'Unknown', reason: 'NodeDoesNotExist', message: 'Node does not exist' });
  const { providerID, infrastructureRef } = machine.spec ?? {};
  return waiting(
    providerID
      ? `Waiting for a Node with spec.providerID ${providerID} to exist`
      : `Waiting for ${infrastructureRef?.kind ?? 'infrastructure'} to report spec.providerID`,
  );
};

/** The status of a Machine, from the observation and the step that was taken. */
export const statusOf = (snapshot: Snapshot, outcome: DeletionOutcome | undefined): MachineStatus => {
  const { machine, infrastructure, nodes, now } = snapshot;
  const before = machine.status ?? {};
  const provisioned = isProvisionedNow(snapshot);
  const node = nodes.length === 1 ? nodes[0] : undefined;
  const nodeRef = before.nodeRef ?? (node && { name: node.metadata.name });
  const nodeInfo = (node?.status?.nodeInfo as Record<string, unknown> | undefined) ?? before.nodeInfo;
  const settled = provisioned ? infrastructure?.object : undefined;
  const addresses = (settled && addressesOf(settled)) ?? before.addresses;
  const failureDomain = (settled && failureDomainOf(settled)) ?? before.failureDomain;
  const conditions = conditionsOf(snapshot, outcome, { provisioned, nodeInfo });
  const phase = phaseOf(snapshot, provisioned, nodeRef !== undefined);
  const { generation } = machine.metadata;
  return {
    ...before,
    conditions,
    ...(provisioned && { initialization: { ...before.initialization, infrastructureProvisioned: true } }),
    ...(nodeRef && { nodeRef }),
    ...(nodeInfo && { nodeInfo }),
    ...(addresses && { addresses }),
    ...(failureDomain && { failureDomain }),
    phase,
    ...(phase !== before.phase && { lastUpdated: timestamp(now) }),
    ...(generation !== undefined && { observedGeneration: generation }),
    ...(provisioned && { infrastructureReady: true }),
  };
};

/** A paused object gets only the condition Paused. */
export const pausedStatus = ({ machine, cluster, now }: Snapshot): MachineStatus => ({
  ...machine.status,
  conditions: setConditions(machine.status?.conditions, [pausedCondition(cluster, 'Machine', machine)], {
    now,
    generation: machine.metadata.generation,
  }),
});

/** Once true, it stays true: the provider ID is copied then. */
const isProvisionedNow = ({ machine }: Pick<Snapshot, 'machine'>): boolean =>
  machine.status?.initialization?.infrastructureProvisioned === true || machine.spec?.providerID !== undefined;

const phaseOf = ({ machine }: Snapshot, provisioned: boolean, hasNode: boolean): string => {
  if (isDeleting(machine)) return 'Deleting';
  if (hasNode && provisioned) return 'Running';
  return machine.spec?.providerID ? 'Provisioned' : 'Pending';
};

const bootstrapCondition = ({ machine }: Snapshot): ConditionUpdate => {
  const type = 'BootstrapConfigReady';
  const kind = machine.spec?.bootstrap?.configRef?.kind;
  return kind === undefined
    ? { type, status: 'True', reason: 'DataSecretProvided' }
    : {
        type,
        status: 'False',
        reason: 'NotReady',
        message: `This stand-in for Cluster API makes no ${kind}: give bootstrap.dataSecretName instead`,
      };
};

const infrastructureCondition = ({ machine, infrastructure }: Snapshot, done: boolean): ConditionUpdate =>
  infrastructure
    ? mirrorCondition({
        type: 'InfrastructureReady',
        from: 'Ready',
        external: infrastructure,
        done,
        deleting: isDeleting(machine),
        owner: 'Machine',
        field: 'status.initialization.provisioned',
      })
    : {
        type: 'InfrastructureReady',
        status: 'False',
        reason: 'ObjectDoesNotExist',
        message: 'spec.infrastructureRef names nothing',
      };

/** Only for a Machine of a MachineDeployment. */
const upToDateConditions = (
  { machine, machineSet, machineDeployment }: Snapshot,
  nodeInfo: Record<string, unknown> | undefined,
): ConditionUpdate[] => {
  if (!machineSet || !machineDeployment) return [];
  const type = 'UpToDate';
  const found = templateDifferences(machineSet.spec?.template, machineDeployment.spec?.template);
  if (found.length > 0) {
    const message = found.map((text) => `* ${text}`).join('\n');
    return [{ type, status: 'False', reason: 'NotUpToDate', message }];
  }
  const version = nodeInfo?.['kubeletVersion'];
  const wanted = machine.spec?.version ?? '';
  if (typeof version === 'string' && version !== '' && version !== wanted) {
    const message = `* Node.status.nodeInfo.kubeletVersion ${version}, ${wanted} required`;
    return [{ type, status: 'False', reason: 'Updating', message }];
  }
  return [{ type, status: 'True', reason: 'UpToDate' }];
};

/** During a deletion, objects that are already gone are no issue. */
const goneReasons = ['ObjectDeleted', 'ObjectDoesNotExist', 'NodeDeleted', 'NodeDoesNotExist'];

const readyCondition = ({ machine }: Snapshot, conditions: readonly Condition[]): ConditionUpdate => {
  const gates = machine.spec?.readinessGates ?? [];
  const part = (type: string): SourceCondition => {
    const found = sourceCondition(conditions, type);
    if (isDeleting(machine) && goneReasons.includes(found.reason)) return { ...found, priority: 'info', message: '' };
    return type === 'Deleting' && found.status === 'True'
      ? { ...found, message: `Machine deletion in progress, stage: ${found.reason}` }
      : found;
  };
  return summaryCondition(
    [
      ...['Deleting', 'Updating', 'BootstrapConfigReady', 'InfrastructureReady', 'NodeHealthy'].map(part),
      ...(getCondition(conditions, 'HealthCheckSucceeded') ? [part('HealthCheckSucceeded')] : []),
      ...gates.map(({ conditionType }) => part(conditionType)),
    ],
    {
      type: 'Ready',
      reasons: { issue: 'NotReady', unknown: 'ReadyUnknown', info: 'Ready' },
      negative: [
        'Deleting',
        'Updating',
        ...gates.filter(({ polarity }) => polarity === 'Negative').map(({ conditionType }) => conditionType),
      ],
    },
  );
};

/** The remaining time that a Machine must be Ready before it is Available. */
export const availableInMs = ({ machine, now }: Snapshot, conditions: readonly Condition[] | undefined): number => {
  const ready = getCondition(conditions, 'Ready');
  if (ready?.status !== 'True') return 0;
  return Math.max(0, Date.parse(ready.lastTransitionTime) + (machine.spec?.minReadySeconds ?? 0) * 1000 - now);
};

const availableCondition = (snapshot: Snapshot, conditions: readonly Condition[]): ConditionUpdate => {
  const type = 'Available';
  if (getCondition(conditions, 'Ready')?.status !== 'True') return { type, status: 'False', reason: 'NotReady' };
  return availableInMs(snapshot, conditions) > 0
    ? { type, status: 'False', reason: 'WaitingForMinReadySeconds' }
    : { type, status: 'True', reason: 'Available' };
};

const conditionsOf = (
  snapshot: Snapshot,
  outcome: DeletionOutcome | undefined,
  { provisioned, nodeInfo }: { provisioned: boolean; nodeInfo: Record<string, unknown> | undefined },
): readonly Condition[] => {
  const { machine, cluster, now } = snapshot;
  const seen = { now, generation: machine.metadata.generation };
  const parts = setConditions(
    machine.status?.conditions,
    [
      pausedCondition(cluster, 'Machine', machine),
      bootstrapCondition(snapshot),
      infrastructureCondition(snapshot, provisioned),
      ...nodeConditions(snapshot),
      deletingCondition(snapshot, outcome),
      { type: 'Updating', status: 'False', reason: 'NotUpdating' },
      ...upToDateConditions(snapshot, nodeInfo),
    ],
    seen,
  );
  const ready = setConditions(parts, [readyCondition(snapshot, parts)], seen);
  return setConditions(ready, [availableCondition(snapshot, ready)], seen);
};
