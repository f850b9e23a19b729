import { finalizers, isRolloutPaused, machinePhaseMeanings, serverNames } from '@tartan/api';
import { getCondition, hasFinalizer, keyOf } from '@tartan/kube';
import {
  choiceFacts,
  clusterFacts,
  decideMachine,
  failuresOf,
  findTurn,
  fleetNameOf,
  type HostFacts,
  hostFacts,
  hostRequirements,
  type MachineSnapshot,
  nodeFacts,
} from '@tartan/provider/decisions';
import { parseFlags } from '@tartan/provider/flags';
import { isVersionedPin } from '@tartan/scaleway';
import {
  agentOf,
  isCordoned,
  isCordonedForRoll,
  joinMacs,
  type Mac,
  readinessOf,
  slotsOf,
  vmPods,
} from '../cluster/macs.ts';
import type { Machine } from '../cluster/state.ts';
import { ageSince } from '../output/age.ts';
import { machineDecisionText } from './decision-text.ts';
import { conditionsOf, type ExplainDocument, type ExplainInput, type Explanation } from './explanation.ts';

type Facts = ExplainDocument['facts'];

/** Why a machine is where it is, by the very function that decides about it. */
export const explainMachine = (machine: Machine, world: ExplainInput): Explanation => {
  const { metadata, spec, status = {} } = machine;
  const mac = joinMacs(world).find((each) => each.machine?.metadata.uid === metadata.uid) ?? withoutMac(machine);
  const { snapshot, unseen } = machineSnapshot(machine, mac, world);
  const decision = decideMachine(snapshot);
  const pods = vmPods(mac.pods ?? []).map((pod) => `${pod.metadata.namespace ?? ''}/${pod.metadata.name}`);
  const fleet = fleetNameOf(machine);
  const namespace = metadata.namespace ?? '';
  const { text, next, remedies } = machineDecisionText(decision, {
    name: metadata.name,
    namespace,
    memory: status,
    fleet,
    pods,
  });
  return {
    subject: { kind: 'machine', namespace, name: metadata.name },
    where: whereIs(machine, mac, world),
    decision: { word: decision.kind === 'wait' ? decision.drift : decision.kind, text, from: 'computed' },
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
    remedies: [...remedies, ...staleStatusRemedies(machine, world.now)],
    unseen: [...unseen],
    conditions: conditionsOf('ScalewayAppleSiliconMachine', status.conditions),
    relatedUIDs: [metadata.uid, ...(mac.host ? [mac.host.metadata.uid] : [])],
  };
};

const withoutMac = (machine: Machine): Mac => ({ machine, host: undefined, node: undefined, pods: undefined });

const whereIs = ({ metadata, status }: Machine, { host }: Mac, { now }: ExplainInput): string => {
  const phase = status?.phase;
  const ready = getCondition(status?.conditions, 'Ready');
  const since = ready === undefined ? '' : ` for ${ageSince(ready.lastTransitionTime, now)}`;
  const at = host === undefined ? '' : ` on the Mac ${host.metadata.name}`;
  if (phase === undefined) return `The machine ${metadata.name} has not been looked at by a manager yet.`;
  return `The machine ${metadata.name} is ${phase}${at}${since}: ${lowerFirst(machinePhaseMeanings[phase])}`;
};

const lowerFirst = (text: string): string => `${text.slice(0, 1).toLowerCase()}${text.slice(1)}`;

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

const fleetText = (name: string, namespace: string, uid: string, { fleets, unreadable }: ExplainInput): string => {
  const fleet = fleets.find(({ metadata }) => metadata.name === name && (metadata.namespace ?? '') === namespace);
  if (fleet === undefined)
    return unreadable.has('fleets') ? `${name} (not readable)` : `${name}, without a MacFleet yet`;
  const turn = fleet.status?.turns?.find((each) => each.uid === uid);
  const { stop } = fleet.status ?? {};
  const words = [
    ...(isRolloutPaused(fleet.spec) ? ['paused'] : []),
    ...(stop ? [`its roll has stopped at ${stop.machine} (${stop.reason})`] : []),
    ...(turn
      ? [`this machine has a turn${turn.canary ? ', as the first' : ''}${turn.rollBack ? ', to roll back' : ''}`]
      : []),
  ];
  return [name, ...words].join(', ');
};

const memoryFacts = (status: NonNullable<Machine['status']>): Facts => {
  const bootstrapFailures = failuresOf(status, 'Bootstrap');
  const { failedHostConfigHash, desiredHostConfigHash, hostConfigHash, leftOut } = status;
  return [
    ...(bootstrapFailures > 0 ? [{ what: 'failed to be made ready', is: `${bootstrapFailures} times in a row` }] : []),
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
const staleStatusRemedies = ({ metadata, status }: Machine, now: number): string[] => {
  const behind = status?.observedGeneration !== undefined && status.observedGeneration < (metadata.generation ?? 0);
  const young = now - Date.parse(metadata.creationTimestamp) < 60_000;
  return behind && !young
    ? ['The manager has not seen the last change of this machine: does it run (tartan version)?']
    : [];
};

/** What a machine is decided by, as far as it can be seen in Kubernetes, and what was taken for granted instead of the rest. */
interface VisibleSnapshot {
  readonly snapshot: MachineSnapshot;
  readonly unseen: readonly string[];
}

const defaultFlags = parseFlags([], {});
const defaultPolicy: MachineSnapshot['policy'] =
  'options' in defaultFlags
    ? {
        ...defaultFlags.options.bootstrap,
        updateGiveUpAfter: defaultFlags.options.update.giveUpAfter,
        updateRetryAfterMs: defaultFlags.options.update.retryAfterMs,
      }
    : { rebootAfter: undefined, giveUpAfter: undefined, updateGiveUpAfter: undefined, updateRetryAfterMs: undefined };

const machineSnapshot = (machine: Machine, { host, node, pods }: Mac, world: ExplainInput): VisibleSnapshot => {
  const { now, machines, hosts, fleets, managerFlags } = world;
  const { metadata, spec, status = {} } = machine;
  const says = (type: string): string | undefined => getCondition(status.conditions, type)?.reason;
  const prefix =
    says('Provisioned') === 'NoAdoptPoolPrefix'
      ? undefined
      : (managerFlags.defaultPoolPrefix ?? serverNames.defaultPoolPrefix);
  const wanted = hostRequirements(machine, prefix);
  const fleet = fleets.find(
    ({ metadata: of }) => keyOf(of) === keyOf({ namespace: metadata.namespace ?? '', name: fleetNameOf(machine) }),
  );
  const desired = status.desiredHostConfigHash;
  const turn = fleet && findTurn(fleet, metadata.uid, desired);
  const [choice, chosen] = status.serverID
    ? [{ kind: 'not asked' } as const, undefined]
    : choiceFacts(
        { macHosts: { list: () => [...hosts] }, machines: { list: () => [...machines] }, clock: { now: () => now } },
        machine,
        wanted,
      );
  const reserved = hosts.find(({ metadata: of }) => of.name === status.serverID);
  // Also one of another server, which is not beside the machine in `Mac`.
  const named = node ?? world.nodes.find(({ metadata: of }) => of.name === metadata.name);
  const keyTrouble = says('Bootstrapped') === 'SSHKeyUnavailable' || says('Provisioned') === 'SSHKeyUnavailable';
  const snapshot: MachineSnapshot = {
    now,
    policy: defaultPolicy,
    machine: {
      name: metadata.name,
      deleting: metadata.deletionTimestamp !== undefined,
      hasFinalizer: hasFinalizer(machine, finalizers.machine),
      // The manager sees to it in a moment, and nothing else waits for it.
      blocksMove: true,
      providerID: spec.providerID || undefined,
      versionedPin: isVersionedPin(spec.os),
      poolPrefix: wanted.poolPrefix || undefined,
      allowedPoolPrefixes: says('Provisioned') === 'PoolPrefixNotAllowed' ? [] : [wanted.poolPrefix],
      status: status,
    },
    cluster: clusterFacts(
      machine,
      world.clusters,
      says('Allowed') === 'NamespaceNotAllowed' ? [] : [metadata.namespace ?? ''],
    ),
    fleetKey: keyTrouble
      ? { kind: 'unavailable', message: getCondition(status.conditions, 'Bootstrapped')?.message ?? '' }
      : { kind: 'ready' },
    choice,
    host: reservedFacts(status.serverID, reserved && hostFacts(reserved, machine)),
    login: { kind: 'known', hasPassword: says('Bootstrapped') !== 'MissingSudoPassword' },
    node: nodeFacts(named, machine, alwaysMissing, reserved ?? chosen),
    join: { lease: undefined, identity: undefined },
    desired: desired === undefined ? { kind: 'not asked' } : { kind: 'known', hash: desired },
    turn: turn && { hash: turn.hash, rollBack: turn.rollBack === true },
    idle: pods && pods.length === 0,
    // Only the manager may ask GitHub; what it heard is in the condition Deleting.
    runner: { kind: 'not asked' },
  };
  return { snapshot, unseen: unseenOf({ spec, status, host, told: managerFlags }) };
};

/** Whoever reads objects once cannot know since when one is missing. */
const alwaysMissing = { missingForMs: () => Infinity };

const reservedFacts = (serverID: string | undefined, facts: HostFacts | undefined): HostFacts => {
  if (!serverID) return { kind: 'none' };
  return (
    facts ?? {
      kind: 'absent',
      server: 'unknown',
      message: `There is no MacHost ${serverID}. If Scaleway still has the server, the inventory makes it again.`,
    }
  );
};

const unseenOf = ({
  spec,
  status,
  host,
  told,
}: Pick<Machine, 'spec'> & {
  status: NonNullable<Machine['status']>;
  host: Mac['host'];
  told: ExplainInput['managerFlags'];
}): string[] => [
  ...(spec.adoptPoolPrefix || told.defaultPoolPrefix || status.serverID
    ? []
    : [
        `Which pool the manager takes Macs from is a flag of its own; ${serverNames.defaultPoolPrefix} is assumed (--default-adopt-pool-prefix).`,
      ]),
  ...(host === undefined
    ? []
    : [
        'What goes on over SSH at this moment, and the Secrets with key and login: the conditions and events below are its own word.',
      ]),
];
