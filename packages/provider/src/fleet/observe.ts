import { annotations, isRolloutPaused, labels, labelValues, type MacFleet, macFleet, machine } from '@tartan/api';
import { type Client, ignoreNotFound, type Live, type ObjectName } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import type { ClusterGetter, Listers, Machine, Node } from '../controller-deps.ts';
import { type CoreMachineDeployment, desiredReplicas } from '../core/kinds.ts';
import { effectiveHash, type Tolerance } from '../machine/decide/provisioned.ts';
import { failuresOf, isUnreachable, lastAttemptOf } from '../machine/last-attempt.ts';
import { cachedPauseReasons } from '../pause/pauses.ts';
import type { Snapshot } from './decide.ts';
import type { Limits, MachineFacts } from './judge-turn.ts';
import { type DeploymentFacts, wantedMachines } from './machine-deployments.ts';
import { fleetNameOf, rollRecordFromStatus } from './turns.ts';

export interface ObserveDeps
  extends Pick<Listers, 'nodes'>,
    /** Undefined: Cluster API is not installed, and nothing wants machines. */
    Partial<Pick<Listers, 'machineDeployments'>> {
  client: Pick<Client, 'get' | 'list'>;
  clusters: ClusterGetter;
  /** Revision of what all Macs of that fleet should have in common. */
  revisionOf: (fleet: string, signal: AbortSignal) => Promise<string>;
  releaseID: string | undefined;
  limits: Limits;
  clock: Clock;
}

export interface Observation {
  /** As read, for writes guarded by its version. */
  fleet: Live<MacFleet> | undefined;
  /** The MachineDeployment that has its name. */
  deployment: Live<CoreMachineDeployment> | undefined;
  snapshot: Snapshot;
}

/**
 * Reads the fleet, then its machines, both uncached: so the machines are never older than the turns that are judged. Caches of different
 * age would overspend the budget. Only what agents report comes from the cache of Nodes.
 * MachineDeployments come from a cache too, read before the fleet: a fleet older than its MachineDeployment would write the previous number
 * of replicas again.
 */
export const observe = async (
  { client, nodes, clusters, machineDeployments, revisionOf, releaseID, limits, clock }: ObserveDeps,
  { namespace = '', name }: ObjectName,
  signal: AbortSignal,
): Promise<Observation> => {
  const wanting = (machineDeployments?.list() ?? []).filter(
    ({ metadata }) => metadata.namespace === namespace && metadata.labels?.[labels.fleet] === name,
  );
  const deployment = wanting.find(({ metadata }) => metadata.name === name);
  const fleet = await ignoreNotFound(client.get(macFleet.resource, { namespace, name }, { signal }));
  const { items } = await client.list(machine.resource, { namespace, signal });
  const members = items.filter((item) => fleetNameOf(item) === name);
  return {
    fleet,
    deployment,
    snapshot: {
      fleet: fleet && fleetFacts(fleet),
      machines: members.map((member) =>
        machineFacts(member, nodes.get(member.metadata.name), { now: clock.now(), clusters, ...limits }),
      ),
      deployment: deployment && deploymentFacts(deployment),
      ...wantedMachines(wanting, members, fleet?.spec.machinesRevision),
      revision: await revisionOf(name, signal),
      releaseID,
      now: clock.now(),
      limits,
    },
  };
};

export const fleetFacts = ({ metadata, spec, status }: Live<MacFleet>) => ({
  /** We created it, and no user has taken it over. */
  ours: metadata.labels?.[labels.managedBy] === labelValues.managedBy,
  deleting: metadata.deletionTimestamp !== undefined,
  paused: isRolloutPaused(spec) || annotations.paused in (metadata.annotations ?? {}),
  replicas: spec.replicas,
  maxUnavailable: spec.maxUnavailable,
  gateDeadlineMs: spec.gateDeadlineSeconds * 1000,
  waitForMacs: spec.waitForMacs,
  /** Release of the manager that reports Ready; undefined: any. */
  releaseID: spec.releaseID,
  rollRecord: rollRecordFromStatus(status),
});

const deploymentFacts = (deployment: Live<CoreMachineDeployment>): DeploymentFacts | undefined =>
  deployment.metadata.deletionTimestamp === undefined
    ? { replicas: desiredReplicas(deployment), annotations: deployment.metadata.annotations ?? {} }
    : undefined;

const timeOf = (text: string | undefined): number | undefined => (text === undefined ? undefined : Date.parse(text));

/** Uses the Node and not the machine's own Ready: the machine controller does not observe its Node during a push. */
export const machineFacts = (
  machine: Machine,
  node: Live<Node> | undefined,
  { now, retryAfterMs, clusters }: Pick<Tolerance, 'now' | 'retryAfterMs'> & Pick<ObserveDeps, 'clusters'>,
): MachineFacts => {
  const { metadata, spec, status = {} } = machine;
  const provisioned = status.initialization?.provisioned === true;
  const ready = node?.status?.conditions?.find(({ type }) => type === 'Ready');
  const isNodeReady = ready?.status === 'True' && isNodeOf(node, spec.providerID);
  const reported = isNodeReady ? node?.metadata.annotations?.[annotations.hostConfigHash] : undefined;
  const attempt = lastAttemptOf(status);
  const update = attempt?.task === 'Update' || attempt?.task === 'RollBack' ? attempt : undefined;
  return {
    name: metadata.name,
    uid: metadata.uid,
    provisioned,
    deleting: metadata.deletionTimestamp !== undefined,
    paused: cachedPauseReasons(machine, clusters).length > 0,
    ready: provisioned && isNodeReady,
    notReadySince: isNodeReady ? undefined : timeOf(ready?.lastTransitionTime),
    desired: status.desiredHostConfigHash,
    plannedBy: status.plannedBy,
    actual: effectiveHash(reported ?? status.hostConfigHash, {
      desired: status.desiredHostConfigHash,
      leftOut: status.leftOut,
      now,
      retryAfterMs,
    }),
    pushed: status.hostConfigHash,
    failed: status.failedHostConfigHash,
    attempts: failuresOf(status, 'Update'),
    lastFailure: timeOf(status.lastUpdateFailureTime),
    unreachableAt: update && isUnreachable(update.outcome) ? timeOf(update.at) : undefined,
    // The cordon is removed with the turn.
    waitingForIdle: update?.outcome === 'WaitingForIdle' && node?.spec?.unschedulable === true,
    failureMessage: update?.message || undefined,
  };
};

/** Not a Node of another server with the same name. */
const isNodeOf = (node: Live<Node> | undefined, providerID: string | undefined): boolean =>
  node?.spec?.providerID === undefined || node.spec.providerID === providerID;
