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
import { parseFlags } from '@tartan/provider/flags';
import type { Fleet } from '../cluster/state.ts';
import { conditionsOf, type ExplainInput, type Explanation, meaningOf } from './explanation.ts';

const defaultFlags = parseFlags([], {});
const limits: FleetSnapshot['limits'] = {
  ...fleetLimits,
  retryAfterMs: 'options' in defaultFlags ? defaultFlags.options.update.retryAfterMs : undefined,
};

/** How a fleet rolls, by the very function that gives turns. What is to be rolled is the manager's to know: its last word counts. */
export const explainFleet = (fleet: Fleet, world: ExplainInput): Explanation => {
  const { metadata, spec, status } = fleet;
  const { now } = world;
  const members = world.machines.filter(
    (machine) => machine.metadata.namespace === metadata.namespace && fleetNameOf(machine) === metadata.name,
  );
  const nodes = new Map(world.nodes.map((node) => [node.metadata.name, node]));
  const snapshot: FleetSnapshot = {
    fleet: fleetFacts(fleet),
    machines: members.map((machine) =>
      machineFacts(machine, nodes.get(machine.metadata.name), { ...limits, now, clusters: world.clusters }),
    ),
    // Not among what is read here; what the manager makes of it is in the status.
    deployment: undefined,
    desired: status?.desired ?? 0,
    deploymentPending: false,
    toBeReplaced: [],
    revision: status?.revision ?? '',
    // Told as the manager tells it that shall speak for the fleet.
    releaseID: spec.releaseID,
    now,
    limits,
  };
  const decision = decideFleet(snapshot);
  const roll = decision.kind === 'roll' ? decision : undefined;
  const rolling = roll && rollingCondition(snapshot, roll, countsOf(snapshot));
  const stopped = roll && stalledCondition(snapshot, roll);
  const meaning = rolling ? meaningOf('MacFleet', 'Rolling', rolling.reason) : undefined;
  const isStopped = stopped?.status === 'True';
  const counts = countsOf(snapshot);
  return {
    subject: { kind: 'fleet', namespace: metadata.namespace ?? '', name: metadata.name },
    where: `The fleet ${metadata.name} has ${counts.existing === 1 ? '1 machine' : `${counts.existing} machines`}, ${counts.ready} Ready, ${counts.updated} up to date${isRolloutPaused(spec) ? '; it is paused' : ''}.`,
    decision: {
      word: roll ? roll.state : decision.kind,
      text: isStopped
        ? `The roll has stopped. ${stopped.message ?? ''}`
        : `${meaning ?? 'It is about to go.'} ${rolling?.message === meaning ? '' : (rolling?.message ?? '')}`.trim(),
      from: 'computed',
    },
    facts: [
      ...(spec.replicas !== undefined && spec.replicas !== counts.desired
        ? [
            {
              what: 'wanted',
              is: `${counts.desired}, by the MachineDeployment. spec.replicas is ${spec.replicas}, and is written there when it changes`,
            },
          ]
        : []),
      { what: 'revision', is: status?.revision ?? 'not known yet' },
      { what: 'at a time', is: `${spec.maxUnavailable}, each Ready again within ${spec.gateDeadlineSeconds} s` },
      { what: 'turns', is: status?.turnOf || 'nobody has one' },
      ...(status?.rollStartedAt ? [{ what: 'rolls since', is: status.rollStartedAt }] : []),
      ...(status?.provenRevision
        ? [
            {
              what: 'proven',
              is:
                status.provenRevision === status.revision
                  ? 'a first machine is Ready with this revision'
                  : 'not yet with this revision',
            },
          ]
        : []),
    ],
    next: nextOf(roll?.state, isRolloutPaused(spec)),
    remedies: [
      ...(isStopped
        ? ['Mend what it says and roll out another revision; or explain the machine that stopped it.']
        : []),
      ...(spec.paused ? [`tartan roll resume ${metadata.name}`] : []),
      ...(spec.pausedByRelease === true
        ? ['Set rollout.paused of this fleet to false in the values of the chart.']
        : []),
    ],
    unseen: ['Which revision the manager rolls out now: the one in the status is the last that it said.'],
    conditions: conditionsOf('MacFleet', status?.conditions),
    relatedUIDs: [metadata.uid],
  };
};

const nextOf = (state: RollState | undefined, paused: boolean): string[] => {
  switch (state) {
    case 'canary':
      return ['When the first machine is Ready with the new revision, the others follow.'];
    case 'wave':
      return ['Machines follow one after the other; one that refuses or does not become Ready stops the roll.'];
    case 'waitingForMachines':
      return ['Those that are left go as soon as they can.'];
    case 'stalled':
      return ['Machines run on with what they have. It is tried again after a while, or with another revision.'];
    case 'upToDate':
      return paused
        ? ['Nothing is to be rolled; with the pause nothing will be.']
        : ['Nothing, until something new is wanted.'];
    case 'paused':
      return ['Nothing, until it is resumed. Who has a turn finishes.'];
    case undefined:
      return [];
  }
};
