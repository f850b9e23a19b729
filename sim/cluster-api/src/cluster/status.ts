import { type ConditionUpdate, isConditionTrue } from '@tartan/kube';
import { countMachines, machinesReady, machinesUpToDate, notRemediating } from '../conditions/machines.ts';
import {
  aggregateCondition,
  mirrorCondition,
  setConditions,
  sourceCondition,
  summaryCondition,
} from '../conditions/operations.ts';
import { pausedCondition } from '../conditions/paused.ts';
import { isControlPlaneInitialized, isProvisioned } from '../external/contract.ts';
import type { ClusterStatus } from '../kinds.ts';
import type { Deletion, Snapshot } from './deletion.ts';

const isDeleting = ({ cluster }: Snapshot): boolean => cluster.metadata.deletionTimestamp !== undefined;

/** Once true, both stay true. A Cluster without infrastructure has nothing to wait for. */
const initializationOf = (snapshot: Snapshot): NonNullable<ClusterStatus['initialization']> => {
  const { cluster, infrastructure, controlPlane } = snapshot;
  const before = cluster.status?.initialization;
  const infra = infrastructure?.object;
  const plane = controlPlane?.object;
  const infrastructureProvisioned =
    before?.infrastructureProvisioned === true ||
    (infrastructure ? infra !== undefined && isProvisioned(infra, infrastructure.contract) : !isDeleting(snapshot));
  const controlPlaneInitialized =
    before?.controlPlaneInitialized === true ||
    (plane !== undefined && isControlPlaneInitialized(plane, controlPlane?.contract ?? 'v1beta2'));
  return {
    ...(infrastructureProvisioned && { infrastructureProvisioned }),
    ...(controlPlaneInitialized && { controlPlaneInitialized }),
  };
};

const phaseOf = (snapshot: Snapshot, provisioned: boolean): string => {
  const { infrastructureRef, controlPlaneRef, controlPlaneEndpoint } = snapshot.cluster.spec ?? {};
  if (isDeleting(snapshot)) return 'Deleting';
  if (provisioned && controlPlaneEndpoint?.host && controlPlaneEndpoint.port) return 'Provisioned';
  return infrastructureRef || controlPlaneRef ? 'Provisioning' : 'Pending';
};

const mirrors = (snapshot: Snapshot, done: NonNullable<ClusterStatus['initialization']>): ConditionUpdate[] => {
  const { infrastructure, controlPlane } = snapshot;
  const common = { deleting: isDeleting(snapshot), owner: 'Cluster' };
  return [
    infrastructure
      ? mirrorCondition({
          ...common,
          type: 'InfrastructureReady',
          from: 'Ready',
          external: infrastructure,
          done: done.infrastructureProvisioned === true,
          field: 'status.initialization.provisioned',
        })
      : { type: 'InfrastructureReady', status: 'True', reason: 'Ready' },
    controlPlane
      ? mirrorCondition({
          ...common,
          type: 'ControlPlaneAvailable',
          from: 'Available',
          external: controlPlane,
          done: done.controlPlaneInitialized === true,
          field: 'status.initialization.controlPlaneInitialized',
        })
      : {
          type: 'ControlPlaneAvailable',
          status: 'False',
          reason: 'ObjectDoesNotExist',
          message: 'spec.controlPlaneRef names nothing',
        },
  ];
};

/** Without a control plane object, core would wait for the Node of a control plane Machine. */
const initializedCondition = ({ cluster, controlPlane }: Snapshot, initialized: boolean): ConditionUpdate => {
  const type = 'ControlPlaneInitialized';
  if (initialized || isConditionTrue(cluster.status?.conditions, type))
    return { type, status: 'True', reason: 'Initialized' };
  if (controlPlane && !controlPlane.object)
    return {
      type,
      status: 'Unknown',
      reason: 'ObjectDoesNotExist',
      message: `${controlPlane.ref.kind} does not exist`,
    };
  return {
    type,
    status: 'False',
    reason: 'NotInitialized',
    message: controlPlane
      ? 'Control plane not yet initialized'
      : 'Waiting for the first control plane machine to have status.nodeRef set',
  };
};

const connectionCondition = (provisioned: boolean, kubeconfig: boolean): ConditionUpdate =>
  provisioned && kubeconfig
    ? { type: 'RemoteConnectionProbe', status: 'True', reason: 'ProbeSucceeded' }
    : {
        type: 'RemoteConnectionProbe',
        status: 'False',
        reason: 'ProbeFailed',
        message: 'Remote connection not established yet',
      };

const workersCondition = ({ machineDeployments }: Snapshot): ConditionUpdate =>
  machineDeployments.length === 0
    ? { type: 'WorkersAvailable', status: 'True', reason: 'NoWorkers' }
    : aggregateCondition(
        'MachineDeployment',
        machineDeployments.map(({ metadata: { name }, status }) => ({
          ...sourceCondition(status?.conditions, 'Available'),
          name,
        })),
        {
          type: 'WorkersAvailable',
          reasons: { issue: 'NotAvailable', unknown: 'AvailableUnknown', info: 'Available' },
        },
      );

/** `RollingOut`, `ScalingUp`, `ScalingDown`: whether any MachineDeployment does that. */
const rolloutConditions = ({ machineDeployments }: Snapshot): ConditionUpdate[] =>
  (['RollingOut', 'ScalingUp', 'ScalingDown'] as const).map((type) =>
    aggregateCondition(
      'MachineDeployment',
      machineDeployments.map(({ metadata: { name }, status }) => ({
        ...sourceCondition(status?.conditions, type),
        name,
      })),
      {
        type,
        reasons: { issue: type, unknown: `${type}Unknown`, info: `Not${type}` },
        negative: [type],
        targetIsNegative: true,
      },
    ),
  );

const deletingCondition = (deletion: Deletion | undefined): ConditionUpdate => {
  const deleting = (reason: string, message: string): ConditionUpdate => ({
    type: 'Deleting',
    status: 'True',
    reason,
    message,
  });
  switch (deletion?.kind) {
    case undefined:
      return { type: 'Deleting', status: 'False', reason: 'NotDeleting' };
    case 'waitForWorkers':
      return deleting('WaitingForWorkersDeletion', deletion.left.map((text) => `* ${text}`).join('\n'));
    case 'controlPlane':
      return deleting('WaitingForControlPlaneDeletion', `Waiting for ${deletion.object.ref.kind} to be deleted`);
    case 'infrastructure':
      return deleting('WaitingForInfrastructureDeletion', `Waiting for ${deletion.object.ref.kind} to be deleted`);
    case 'finish':
      return deleting('DeletionCompleted', 'Deletion completed');
  }
};

export const statusOf = (snapshot: Snapshot, deletion: Deletion | undefined): ClusterStatus => {
  const { cluster, machines, machineDeployments, kubeconfig, now } = snapshot;
  const initialization = initializationOf(snapshot);
  const { infrastructureProvisioned = false, controlPlaneInitialized = false } = initialization;
  const { generation } = cluster.metadata;
  const conditions = setConditions(
    cluster.status?.conditions,
    [
      pausedCondition(cluster, 'Cluster', cluster),
      ...mirrors(snapshot, initialization),
      initializedCondition(snapshot, controlPlaneInitialized),
      connectionCondition(infrastructureProvisioned, kubeconfig),
      workersCondition(snapshot),
      ...rolloutConditions(snapshot),
      machinesReady(machines, 'WorkerMachinesReady'),
      machinesUpToDate(machines, 'WorkerMachinesUpToDate'),
      // There are no control plane Machines here.
      machinesReady([], 'ControlPlaneMachinesReady'),
      machinesUpToDate([], 'ControlPlaneMachinesUpToDate'),
      notRemediating,
      deletingCondition(deletion),
    ],
    { now, generation },
  );
  const available = summaryCondition(
    ['Deleting', 'RemoteConnectionProbe', 'InfrastructureReady', 'ControlPlaneAvailable', 'WorkersAvailable'].map(
      (type) => sourceCondition(conditions, type),
    ),
    {
      type: 'Available',
      reasons: { issue: 'NotAvailable', unknown: 'AvailableUnknown', info: 'Available' },
      negative: ['Deleting'],
    },
  );
  return {
    ...cluster.status,
    conditions: setConditions(conditions, [available], { now, generation }),
    initialization,
    workers: {
      desiredReplicas: machineDeployments.reduce((total, { spec }) => total + (spec?.replicas ?? 1), 0),
      ...countMachines(machines),
    },
    phase: phaseOf(snapshot, infrastructureProvisioned),
    ...(generation !== undefined && { observedGeneration: generation }),
    infrastructureReady: infrastructureProvisioned,
    controlPlaneReady: controlPlaneInitialized,
  };
};

/** A paused object gets only the condition Paused. */
export const pausedStatus = ({ cluster, now }: Snapshot): ClusterStatus => ({
  ...cluster.status,
  conditions: setConditions(cluster.status?.conditions, [pausedCondition(cluster, 'Cluster', cluster)], {
    now,
    generation: cluster.metadata.generation,
  }),
});
