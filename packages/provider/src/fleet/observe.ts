import { annotations, isRolloutPaused, labels, labelValues, type MacFleet, macFleet, machine } from '@tartan/api';
import { type Client, ignoreNotFound, keyOf, type Live, type ObjectName } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import type { ClusterGetter, Listers, Machine, Node } from '../controller-deps.ts';
import { type CoreMachineDeployment, desiredReplicas } from '../core/kinds.ts';
import { effectiveHash, type Tolerance } from '../machine/decide/provisioned.ts';
import { failuresOf, isUnreachable, lastAttemptOf } from '../machine/last-attempt.ts';
import { cachedPauseReasons } from '../pause/pauses.ts';
import type { Snapshot } from './decide.ts';
import type { Limits, MachineFacts } from './judge-turn.ts';
import { type DeploymentFacts, wantedMachines } from './machine-deployments.ts';
import type { Member, MemberFacts } from './member-facts.ts';
import { fleetNameOf, rollRecordFromStatus } from './turns.ts';

export interface ObserveDeps
  /** `machineDeployments` is undefined: Cluster API is not installed, and nothing wants machines. */
  extends Partial<Pick<Listers, 'machineDeployments'>> {
  memberFacts: Pick<MemberFacts, 'membersOf' | 'memberOf'>;
  fleetOf: (key: string) => Live<MacFleet> | undefined;
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

/** Reads of the server, which replace what the caches hold. */
export interface LiveReads {
  readonly fleet: Live<MacFleet> | undefined;
  /** By name. Undefined: the machine is gone. */
  readonly machines: ReadonlyMap<string, Machine | undefined>;
}

/**
 * Observes a fleet from the caches, so a pass costs no request. What `live` has replaces what the caches hold. Call it without `live` first:
 * MachineDeployments come from their cache and must be older than the fleet, or the previous number of replicas would be written again.
 */
export const createObserve = (deps: ObserveDeps) => {
  const { fleetOf, memberFacts, machineDeployments, revisionOf, releaseID, limits, clock } = deps;
  return async (name: ObjectName, signal: AbortSignal, live?: LiveReads): Promise<Observation> => {
    const key = keyOf(name);
    const wanting = machineDeployments?.byIndex('fleet', key) ?? [];
    const deployment = wanting.find(({ metadata }) => metadata.name === name.name);
    const fleet = live ? live.fleet : fleetOf(key);
    const cached = memberFacts.membersOf(key);
    const members = live ? withLive(cached, name, memberFacts, live) : cached;
    return {
      fleet,
      deployment,
      snapshot: {
        fleet: fleet && fleetFacts(fleet),
        machines: members,
        deployment: deployment && deploymentFacts(deployment),
        ...wantedMachines(wanting, members, fleet?.spec.machinesRevision),
        revision: await revisionOf(name.name, signal),
        releaseID,
        now: clock.now(),
        limits,
      },
    };
  };
};

const withLive = (
  cached: readonly Member[],
  { name }: ObjectName,
  { memberOf }: Pick<MemberFacts, 'memberOf'>,
  live: LiveReads,
): readonly Member[] => {
  const read = [...live.machines.values()].filter((each) => each !== undefined);
  return [
    ...cached.filter((each) => !live.machines.has(each.name)),
    ...read.filter((each) => fleetNameOf(each) === name).map(memberOf),
  ];
};

/** Reads the fleet, and the machines of that name, from the server. */
export const readLive = async (
  client: Pick<Client, 'get'>,
  name: ObjectName,
  machineNames: readonly string[],
  signal: AbortSignal,
): Promise<LiveReads> => {
  const { namespace = '' } = name;
  const fleet = await ignoreNotFound(client.get(macFleet.resource, name, { signal }));
  const read = async (each: string): Promise<[string, Machine | undefined]> => [
    each,
    await ignoreNotFound(client.get(machine.resource, { namespace, name: each }, { signal })),
  ];
  return { fleet, machines: new Map(await Promise.all(machineNames.map(read))) };
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
  { now, retryAfterMs, clusters }: Pick<Tolerance, 'now' | 'retryAfterMs'> & { readonly clusters: ClusterGetter },
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
