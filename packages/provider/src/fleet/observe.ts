import {
  annotations,
  isRolloutPaused,
  labels,
  labelValues,
  type MacFleet,
  macFleet,
  machine,
  type ScalewayAppleSiliconMachine,
} from '@tartan/api';
import {
  type Client,
  getCondition,
  ignoreNotFound,
  type Informer,
  isConditionTrue,
  type Live,
  type nodes,
  type ObjectName,
} from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import { type CoreMachineDeployment, desiredReplicas } from '../core/machine-deployment.ts';
import { effectiveHash, type Tolerance } from '../machine/decide/provisioned.ts';
import { failuresOf } from '../machine/last-attempt.ts';
import type { FleetFacts, Snapshot } from './decide.ts';
import type { Limits, MachineFacts } from './judge-turn.ts';
import { type DeploymentFacts, wantedMachines } from './machine-deployments.ts';
import { fleetNameOf, memoryFromStatus } from './turns.ts';

export type Node = NonNullable<(typeof nodes)['ofType']>;
type Machine = Live<ScalewayAppleSiliconMachine>;

export interface ObserveDeps {
  client: Pick<Client, 'get' | 'list'>;
  nodes: Pick<Informer<Node>, 'get'>;
  /** Undefined: Cluster API's kinds are not there, and nobody asks for machines. */
  machineDeployments?: Pick<Informer<CoreMachineDeployment>, 'list'> | undefined;
  /** What all Macs of that fleet shall have in common, in one word. */
  revisionOf: (fleet: string, signal: AbortSignal) => Promise<string>;
  /** That of this manager. */
  releaseID: string | undefined;
  limits: Limits;
  clock: Clock;
}

export interface Observation {
  /** As it was read, for whoever writes it. */
  fleet: Live<MacFleet> | undefined;
  /** The MachineDeployment that bears its name. */
  deployment: Live<CoreMachineDeployment> | undefined;
  snapshot: Snapshot;
}

/**
 * The fleet first, then its machines, both from the server: what is found of the machines is then never older than the turns that are
 * judged by it. Caches of different age overspend a budget. Only what an agent says of itself comes from the cache of Nodes.
 *
 * MachineDeployments come from a cache, too, and before the fleet, so that an old fleet is never held against a newer one: the number of
 * machines that was wanted before would be written again.
 */
export const observe = async (
  { client, nodes, machineDeployments, revisionOf, releaseID, limits, clock }: ObserveDeps,
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
        machineFacts(member, nodes.get(member.metadata.name), { now: clock.now(), ...limits }),
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

export const fleetFacts = ({ metadata, spec, status }: Live<MacFleet>): FleetFacts => ({
  ours: metadata.labels?.[labels.managedBy] === labelValues.managedBy,
  deleting: metadata.deletionTimestamp !== undefined,
  paused: isRolloutPaused(spec) || annotations.paused in (metadata.annotations ?? {}),
  replicas: spec.replicas,
  maxUnavailable: spec.maxUnavailable,
  gateDeadlineMs: spec.gateDeadlineSeconds * 1000,
  waitForMacs: spec.waitForMacs,
  releaseID: spec.releaseID,
  memory: memoryFromStatus(status),
});

const deploymentFacts = (deployment: Live<CoreMachineDeployment>): DeploymentFacts | undefined =>
  deployment.metadata.deletionTimestamp === undefined
    ? { replicas: desiredReplicas(deployment), annotations: deployment.metadata.annotations ?? {} }
    : undefined;

const timeOf = (text: string | undefined): number | undefined => (text === undefined ? undefined : Date.parse(text));

export const machineFacts = (
  { metadata, spec, status = {} }: Machine,
  node: Live<Node> | undefined,
  { now, retryAfterMs }: Pick<Tolerance, 'now' | 'retryAfterMs'>,
): MachineFacts => {
  const ready = readiness(status, node);
  const upToDate = getCondition(status.conditions, 'HostUpToDate');
  const said = isReadyNodeOf(node, spec.providerID)
    ? node?.metadata.annotations?.[annotations.hostConfigHash]
    : undefined;
  return {
    name: metadata.name,
    uid: metadata.uid,
    provisioned: status.initialization?.provisioned === true,
    deleting: metadata.deletionTimestamp !== undefined,
    paused: annotations.paused in (metadata.annotations ?? {}) || isConditionTrue(status.conditions, 'Paused'),
    ready: ready.now,
    notReadySince: ready.now ? undefined : timeOf(ready.since),
    desired: status.desiredHostConfigHash,
    plannedBy: status.plannedBy,
    actual: effectiveHash(said ?? status.hostConfigHash, {
      desired: status.desiredHostConfigHash,
      leftOut: status.leftOut,
      now,
      retryAfterMs,
    }),
    pushed: status.hostConfigHash,
    failed: status.failedHostConfigHash,
    attempts: failuresOf(status, 'Update'),
    lastFailure: timeOf(status.lastUpdateFailureTime),
    unreachable: upToDate?.reason === 'RollUnreachable',
    waitingForIdle: upToDate?.reason === 'WaitingForIdle',
    failureMessage: upToDate?.status === 'False' && upToDate.message !== '' ? upToDate.message : undefined,
  };
};

/**
 * The machine says so, and so does its Node at this moment: a machine that is being pushed to has not looked at its Node since before
 * the push, so that its own word speaks for the agent that was there before.
 */
const readiness = (
  { conditions }: NonNullable<Machine['status']>,
  node: Live<Node> | undefined,
): { now: boolean; since: string | undefined } => {
  const ofMachine = getCondition(conditions, 'Ready');
  const ofNode = node?.status?.conditions?.find(({ type }) => type === 'Ready');
  if (ofMachine?.status !== 'True') return { now: false, since: ofMachine?.lastTransitionTime };
  return { now: ofNode === undefined || ofNode.status === 'True', since: ofNode?.lastTransitionTime };
};

/** Not one that is down, which says what was; nor one of another server that happens to bear the name. */
const isReadyNodeOf = (node: Live<Node> | undefined, providerID: string | undefined): boolean =>
  (node?.status?.conditions ?? []).some(({ type, status }) => type === 'Ready' && status === 'True') &&
  (node?.spec?.providerID === undefined || node.spec.providerID === providerID);
