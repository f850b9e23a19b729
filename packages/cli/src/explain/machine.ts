import { isPaused, machinePhaseMeanings } from '@tartan/api';
import { getCondition } from '@tartan/kube';
import { decideMachine, fleetNameOf } from '@tartan/provider/decisions';
import { ageSince } from '../show/age.ts';
import { joinMacs, type Mac } from '../world/join.ts';
import { agentOf, isCordoned, isCordonedForRoll, readinessOf, slotsOf, vmsAmong } from '../world/node-facts.ts';
import type { Machine } from '../world/observe.ts';
import { conditionsOf } from './conditions.ts';
import type { ExplainDocument, Story } from './document.ts';
import type { ExplainWorld } from './explain-world.ts';
import { machineSnapshot } from './machine-snapshot.ts';
import { machineWords } from './machine-words.ts';

type Facts = ExplainDocument['facts'];

/** Why a machine is where it is, by the very function that decides about it. */
export const explainMachine = (machine: Machine, world: ExplainWorld): Story => {
  const { metadata, spec, status = {} } = machine;
  const mac = joinMacs(world).find((each) => each.machine?.metadata.uid === metadata.uid) ?? alone(machine);
  const { snapshot, unseen } = machineSnapshot(machine, mac, world);
  const decision = decideMachine(snapshot);
  const pods = vmsAmong(mac.pods ?? []).map((pod) => `${pod.metadata.namespace ?? ''}/${pod.metadata.name}`);
  const fleet = fleetNameOf(machine);
  const namespace = metadata.namespace ?? '';
  const { text, next, remedies } = machineWords(decision, {
    name: metadata.name,
    namespace,
    memory: status,
    fleet,
    pods,
  });
  return {
    subject: { kind: 'machine', namespace, name: metadata.name },
    where: whereIs(machine, mac, world),
    decision: { word: decision.kind === 'rest' ? decision.drift : decision.kind, text, from: 'computed' },
    facts: [
      {
        what: 'wants',
        is: `${spec.type} with ${spec.os} in ${spec.zone}${spec.adoptPoolPrefix ? `, from the pool ${spec.adoptPoolPrefix}` : ''}`,
      },
      ...macFacts(mac, world.now),
      { what: 'fleet', is: fleetText(fleet, namespace, metadata.uid, world) },
      ...nodeRows(mac),
      ...(pods.length > 0 ? [{ what: 'virtual machines', is: pods.join(', ') }] : []),
      ...memoryFacts(status),
    ],
    next: [...next],
    remedies: [...remedies, ...silence(machine, world.now)],
    unseen: [...unseen],
    conditions: conditionsOf('ScalewayAppleSiliconMachine', status.conditions),
    about: [metadata.uid, ...(mac.host ? [mac.host.metadata.uid] : [])],
  };
};

const alone = (machine: Machine): Mac => ({ machine, host: undefined, node: undefined, pods: undefined });

const whereIs = ({ metadata, status }: Machine, { host }: Mac, { now }: ExplainWorld): string => {
  const phase = status?.phase;
  const ready = getCondition(status?.conditions, 'Ready');
  const since = ready === undefined ? '' : ` for ${ageSince(ready.lastTransitionTime, now)}`;
  const at = host === undefined ? '' : ` on the Mac ${host.metadata.name}`;
  if (phase === undefined) return `The machine ${metadata.name} has not been looked at by a manager yet.`;
  return `The machine ${metadata.name} is ${phase}${at}${since}: ${lowered(machinePhaseMeanings[phase])}`;
};

const lowered = (text: string): string => `${text.slice(0, 1).toLowerCase()}${text.slice(1)}`;

const macFacts = ({ machine, host }: Mac, now: number): Facts => {
  const reserved = machine?.status?.serverID;
  if (host === undefined)
    return [{ what: 'Mac', is: reserved ? `${reserved} is reserved, but is not its own` : 'none' }];
  const { name, type, osFamily, state, since, serverStatus, ip } = host.status ?? {};
  const held = host.spec.consumerRef?.uid === machine?.metadata.uid ? 'held by this machine' : 'reserved, not yet held';
  return [
    {
      what: 'Mac',
      is: `${host.metadata.name}, ${type ?? 'unknown type'} with ${osFamily ?? 'unknown OS'} in ${host.spec.zone}${ip ? `, ${ip}` : ''}`,
    },
    { what: 'its state', is: `${state ?? 'unseen'}${since ? ` for ${ageSince(since, now)}` : ''}, ${held}` },
    { what: 'at Scaleway', is: `named ${name ?? '?'}, ${serverStatus ?? '?'}` },
  ];
};

const nodeRows = ({ node, machine }: Mac): Facts => {
  if (node === undefined)
    return machine?.status?.initialization?.provisioned === true
      ? [{ what: 'Node', is: 'none, though it was made ready once' }]
      : [];
  const ready = readinessOf(node);
  const said = node.status?.conditions?.find(({ type }) => type === 'Ready')?.message;
  const words = [
    ready === 'True'
      ? 'Ready'
      : ready === 'False'
        ? `not Ready${said ? ` (${said})` : ''}`
        : 'not heard of for a while',
    ...(isCordoned(node) ? [isCordonedForRoll(node) ? 'cordoned for a roll' : 'cordoned by somebody'] : []),
    ...(agentOf(node) ? [`agent ${agentOf(node)}`] : []),
    ...(slotsOf(node) === undefined ? [] : [`takes ${slotsOf(node)} virtual machines`]),
  ];
  return [{ what: 'Node', is: `${node.metadata.name}: ${words.join(', ')}` }];
};

const fleetText = (name: string, namespace: string, uid: string, { fleets, unread }: ExplainWorld): string => {
  const fleet = fleets.find(({ metadata }) => metadata.name === name && (metadata.namespace ?? '') === namespace);
  if (fleet === undefined) return unread.has('fleets') ? `${name} (not readable)` : `${name}, without a MacFleet yet`;
  const turn = fleet.status?.turns?.find((each) => each.uid === uid);
  const { stop } = fleet.status ?? {};
  const words = [
    ...(isPaused(fleet.spec) ? ['paused'] : []),
    ...(stop ? [`its roll has stopped at ${stop.machine} (${stop.reason})`] : []),
    ...(turn
      ? [`this machine has a turn${turn.canary ? ', as the first' : ''}${turn.rollBack ? ', to roll back' : ''}`]
      : []),
  ];
  return [name, ...words].join(', ');
};

const memoryFacts = (status: NonNullable<Machine['status']>): Facts => {
  const { bootstrapAttempts = 0, failedHostConfigHash, desiredHostConfigHash, hostConfigHash, leftOut } = status;
  return [
    ...(bootstrapAttempts > 0 ? [{ what: 'failed to be made ready', is: `${bootstrapAttempts} times in a row` }] : []),
    ...(desiredHostConfigHash !== undefined && desiredHostConfigHash !== hostConfigHash
      ? [
          {
            what: 'shall have',
            is: `${short(desiredHostConfigHash)}, and had ${short(hostConfigHash)} after the last push`,
          },
        ]
      : []),
    ...(failedHostConfigHash === undefined ? [] : [{ what: 'has refused', is: short(failedHostConfigHash) }]),
    ...(leftOut === undefined ? [] : [{ what: 'does without', is: leftOut.message }]),
  ];
};

const short = (hash: string | undefined): string => (hash === undefined ? 'nothing known' : hash.slice(0, 12));

/** A status that does not follow the spec is old news. */
const silence = ({ metadata, status }: Machine, now: number): string[] => {
  const behind = status?.observedGeneration !== undefined && status.observedGeneration < (metadata.generation ?? 0);
  const young = now - Date.parse(metadata.creationTimestamp) < 60_000;
  return behind && !young
    ? ['The manager has not seen the last change of this machine: does it run (tartan version)?']
    : [];
};
