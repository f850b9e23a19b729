import { isRolloutPaused } from '@tartan/api';
import {
  countsOf,
  decideFleet,
  fleetFacts,
  fleetLimits,
  fleetNameOf,
  type FleetSnapshot,
  machineFacts,
  rollingCondition,
  type RollState,
  stalledCondition,
} from '@tartan/provider/decisions';
import type { Fleet } from '../cluster/state.ts';
import { counted } from '../output/terminal-text.ts';
import { conditionsOf, definedFacts, type ExplainInput, type Explanation, meaningOf } from './explanation.ts';
import { updateRetryAfterMs as retryAfterMs } from './machine.ts';

const limits: FleetSnapshot['limits'] = { ...fleetLimits, retryAfterMs };

/** Explains a fleet with the function that grants turns. The desired revision is taken from the status. */
export const explainFleet = (fleet: Fleet, { now, machines, nodes, clusters }: ExplainInput): Explanation => {
  const { metadata, spec, status } = fleet;
  const members = machines.filter(
    (machine) => machine.metadata.namespace === metadata.namespace && fleetNameOf(machine) === metadata.name,
  );
  const nodesByName = new Map(nodes.map((node) => [node.metadata.name, node]));
  const snapshot: FleetSnapshot = {
    fleet: fleetFacts(fleet),
    machines: members.map((machine) =>
      machineFacts(machine, nodesByName.get(machine.metadata.name), { ...limits, now, clusters }),
    ),
    // Not read here; the status has what the manager concluded from it.
    deployment: undefined,
    desired: status?.desired ?? 0,
    deploymentPending: false,
    toBeReplaced: [],
    revision: status?.revision ?? '',
    // As the manager whose release owns the fleet decides.
    releaseID: spec.releaseID,
    now,
    limits,
  };
  const decision = decideFleet(snapshot);
  const counts = countsOf(snapshot);
  const roll = decision.kind === 'roll' ? decision : undefined;
  const rolling = roll && rollingCondition(snapshot, roll, counts);
  const stalled = roll && stalledCondition(snapshot, roll);
  const meaning = rolling ? meaningOf('MacFleet', 'Rolling', rolling.reason) : undefined;
  const isStalled = stalled?.status === 'True';
  const isPaused = isRolloutPaused(spec);
  return {
    where: `The fleet ${metadata.name} has ${counted(counts.existing, 'machine')}, ${counts.ready} Ready, ${counts.updated} up to date${isPaused ? '; it is paused' : ''}.`,
    decision: {
      word: roll ? roll.state : decision.kind,
      text: isStalled
        ? `The rollout has stopped. ${stalled.message ?? ''}`
        : `${meaning ?? 'The fleet is being deleted.'} ${rolling?.message === meaning ? '' : (rolling?.message ?? '')}`.trim(),
      from: 'computed',
    },
    facts: definedFacts({
      desired:
        spec.replicas !== undefined && spec.replicas !== counts.desired
          ? `${counts.desired}, by the MachineDeployment. spec.replicas is ${spec.replicas}; the manager writes it there when it changes`
          : undefined,
      revision: status?.revision ?? 'unknown',
      'max unavailable': `${spec.maxUnavailable}, each Ready again within ${spec.gateDeadlineSeconds} s`,
      turns: status?.turnOf || 'none',
      'rolling since': status?.rollStartedAt,
      proven:
        status?.provenRevision &&
        (status.provenRevision === status.revision
          ? 'a first machine is Ready with this revision'
          : 'not yet with this revision'),
    }),
    next: nextOf(roll?.state, isPaused),
    remedies: [
      ...(isStalled ? ['Fix the cause and roll out another revision; or explain the machine that stopped it.'] : []),
      ...(spec.paused ? [`tartan roll resume ${metadata.name}`] : []),
      ...(spec.pausedByRelease === true
        ? ['Set rollout.paused of this fleet to false in the values of the chart.']
        : []),
    ],
    unseen: ['The revision that the manager rolls out now: the status has the last reported one.'],
    conditions: conditionsOf('MacFleet', status?.conditions),
  };
};

const nextOf = (state: RollState | undefined, isPaused: boolean): string[] => {
  switch (state) {
    case 'canary':
      return ['When the first machine is Ready with the new revision, the others follow.'];
    case 'wave':
      return ['The manager updates machine after machine. A machine that rejects it or is not Ready in time stops it.'];
    case 'waitingForMachines':
      return ['The manager updates the remaining machines as soon as possible.'];
    case 'maxUnavailableReached':
      return ['The manager continues when fewer Macs are unavailable. The condition Rolling names them.'];
    case 'stalled':
      return ['Machines keep what they have. The manager retries after a while, or with another revision.'];
    case 'upToDate':
      return [isPaused ? 'Nothing: no update is due, and the rollout is paused.' : 'Nothing until an update is due.'];
    case 'paused':
      return ['Nothing until the rollout is resumed. Machines already updating finish.'];
    case undefined:
      return [];
  }
};
