import { type ConditionUpdate, isConditionTrue } from '@tartan/kube';
import { mergeConditions } from '../conditions/merge.ts';
import { isDeleting, type Node, type Snapshot } from './snapshot.ts';

type Same = Pick<ConditionUpdate, 'status' | 'reason'> & { message: string };

const both = (said: Same): ConditionUpdate[] => ['NodeReady', 'NodeHealthy'].map((type) => ({ type, ...said }));

const readyReasons = { True: 'NodeReady', False: 'NodeNotReady', Unknown: 'NodeReadyUnknown' } as const;
const pressures = ['MemoryPressure', 'DiskPressure', 'PIDPressure'];

const conditionsOf = ({ status }: Node): ConditionUpdate[] => {
  const parts = ['Ready', ...pressures].map((type) => {
    const found = status?.conditions?.find((condition) => condition.type === type);
    const value = found?.status === 'True' || found?.status === 'False' ? found.status : 'Unknown';
    const message = found ? (found.message ?? '') || `Condition is ${found.status}` : 'Condition not yet reported';
    return { type, status: value, reason: found?.reason ?? '', message, label: `Node.${type}` } as const;
  });
  const [ready] = parts;
  const healthy = mergeConditions(parts, {
    type: 'NodeHealthy',
    reasons: { issue: 'NodeNotHealthy', unknown: 'NodeHealthyUnknown', fine: 'NodeHealthy' },
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
    // A Node that is well says so in many words; core does not repeat them.
    healthy.status === 'True' ? { ...healthy, message: '' } : healthy,
  ];
};

/** `NodeReady` and `NodeHealthy`. All four conditions of a Node must be there: one that is missing makes the Machine unknown. */
export const nodeConditions = (snapshot: Snapshot): ConditionUpdate[] => {
  const { machine, cluster, nodes, connected } = snapshot;
  const waiting = (message: string): ConditionUpdate[] =>
    both({ status: 'Unknown', reason: 'InspectionFailed', message });
  if (cluster.status?.initialization?.infrastructureProvisioned !== true)
    return waiting('Waiting for Cluster status.initialization.infrastructureProvisioned to be true');
  if (!isConditionTrue(cluster.status.conditions, 'ControlPlaneInitialized'))
    return waiting('Waiting for Cluster control plane to be initialized');
  if (!connected)
    return both({ status: 'Unknown', reason: 'ConnectionDown', message: 'Remote connection not established yet' });
  const [node, ...more] = nodes;
  if (more.length > 0)
    return both({ status: 'Unknown', reason: 'InternalError', message: 'Please check controller logs for errors' });
  if (node) return conditionsOf(node);
  const name = machine.status?.nodeRef?.name;
  if (name !== undefined) {
    const still = isDeleting(machine) ? '' : ' while the Machine still exists';
    return both({ status: 'False', reason: 'NodeDeleted', message: `Node ${name} has been deleted${still}` });
  }
  if (isDeleting(machine))
    return both({ status: 'Unknown', reason: 'NodeDoesNotExist', message: 'Node does not exist' });
  const { providerID, infrastructureRef } = machine.spec ?? {};
  return waiting(
    providerID
      ? `Waiting for a Node with spec.providerID ${providerID} to exist`
      : `Waiting for ${infrastructureRef?.kind ?? 'infrastructure'} to report spec.providerID`,
  );
};
