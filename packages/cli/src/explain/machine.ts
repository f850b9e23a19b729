import { finalizers, isRolloutPaused, machinePhaseMeanings, serverNames } from '@tartan/api';
import { getCondition, hasFinalizer, keyOf } from '@tartan/kube';
import {
  choiceFacts,
  clusterFacts,
  decideMachine,
  failuresOf,
  findTurn,
  fleetNameOf,
  hostFacts,
  hostRequirements,
  listerOf,
  machineIndexes,
  type MachineSnapshot,
  macHostIndexes,
  nodeFacts,
} from '@tartan/provider/decisions';
import { parseFlags } from '@tartan/provider/flags';
import { isVersionedPin } from '@tartan/scaleway';
import {
  agentOf,
  isCordoned,
  isCordonedForRoll,
  type Mac,
  macOf,
  readinessText,
  slotsOf,
  vmPods,
} from '../cluster/macs.ts';
import type { Fleet, Machine } from '../cluster/state.ts';
import { ageSince } from '../output/age.ts';
import { machineDecisionText } from './decision-text.ts';
import { conditionsOf, definedFacts, type ExplainInput, type Explanation } from './explanation.ts';
import { hardwareText, serverText } from './host.ts';

/** Explains a machine with the decision function of its controller. */
export const explainMachine = (machine: Machine, input: ExplainInput): Explanation => {
  const { metadata, spec, status = {} } = machine;
  const mac = macOf(machine, input);
  const namespace = metadata.namespace ?? '';
  const fleetName = fleetNameOf(machine);
  const fleet = input.fleets.find((each) => keyOf(each.metadata) === keyOf({ namespace, name: fleetName }));
  const decision = decideMachine(snapshotOf(machine, mac, fleet, input));
  const pods = vmPods(mac.pods ?? []).map((pod) => keyOf(pod.metadata));
  const { text, next, remedies } = machineDecisionText(decision, {
    name: metadata.name,
    namespace,
    memory: status,
    fleet: fleetName,
    pods,
  });
  const { failedHostConfigHash, desiredHostConfigHash: desired, hostConfigHash } = status;
  const bootstrapFailures = failuresOf(status, 'Bootstrap');
  return {
    where: whereIs(machine, mac, input),
    decision: { word: decision.kind === 'wait' ? decision.drift : decision.kind, text, from: 'computed' },
    facts: definedFacts({
      requests: `${spec.type} with ${spec.os} in ${spec.zone}${spec.adoptPoolPrefix ? `, from the pool ${spec.adoptPoolPrefix}` : ''}`,
      ...macFacts(machine, mac, input.now),
      fleet: fleetText(fleetName, fleet, metadata.uid, input),
      Node: nodeText(machine, mac),
      'virtual machines': pods.length > 0 ? pods.join(', ') : undefined,
      'failed preparations': bootstrapFailures > 0 ? `${bootstrapFailures} in a row` : undefined,
      'desired configuration':
        desired !== undefined && desired !== hostConfigHash
          ? `${short(desired)}; after the last update: ${short(hostConfigHash)}`
          : undefined,
      'rejected configuration': failedHostConfigHash && short(failedHostConfigHash),
      'left out': status.leftOut?.message,
    }),
    next,
    remedies: [...remedies, ...staleStatusRemedies(machine, input.now)],
    unseen: unseenOf(machine, mac, input),
    conditions: conditionsOf('ScalewayAppleSiliconMachine', status.conditions),
    relatedUIDs: mac.host ? [mac.host.metadata.uid] : [],
  };
};

const whereIs = ({ metadata, status }: Machine, { host }: Mac, { now }: ExplainInput): string => {
  const phase = status?.phase;
  if (phase === undefined) return `The manager has not observed the machine ${metadata.name} yet.`;
  const ready = getCondition(status?.conditions, 'Ready');
  const since = ready === undefined ? '' : ` for ${ageSince(ready.lastTransitionTime, now)}`;
  const at = host === undefined ? '' : ` on the Mac ${host.metadata.name}`;
  return `The machine ${metadata.name} is ${phase}${at}${since}. ${machinePhaseMeanings[phase]}`;
};

const macFacts = ({ metadata, status }: Machine, { host }: Mac, now: number): Record<string, string> => {
  if (host === undefined)
    return { Mac: status?.serverID ? `${status.serverID} is reserved, but not held by this machine` : 'none' };
  const { state, since } = host.status ?? {};
  const held = host.spec.consumerRef?.uid === metadata.uid ? 'held by this machine' : 'reserved, not yet held';
  return {
    Mac: `${host.metadata.name}, ${hardwareText(host)}`,
    'state of the Mac': `${state ?? 'unseen'}${since ? ` for ${ageSince(since, now)}` : ''}, ${held}`,
    'at Scaleway': serverText(host),
  };
};

const nodeText = ({ status }: Machine, { node }: Mac): string | undefined => {
  if (node === undefined)
    return status?.initialization?.provisioned === true ? 'none, although the machine was provisioned' : undefined;
  const word = readinessText(node);
  const message = node.status?.conditions?.find(({ type }) => type === 'Ready')?.message;
  const words = [
    `${word}${word === 'not Ready' && message ? ` (${message})` : ''}`,
    ...(isCordoned(node) ? [isCordonedForRoll(node) ? 'cordoned for a rollout' : 'cordoned by a person'] : []),
    ...(agentOf(node) ? [`agent ${agentOf(node)}`] : []),
    ...(slotsOf(node) === undefined ? [] : [`room for ${slotsOf(node)} virtual machines`]),
  ];
  return `${node.metadata.name}: ${words.join(', ')}`;
};

const fleetText = (name: string, fleet: Fleet | undefined, uid: string, { unreadable }: ExplainInput): string => {
  if (fleet === undefined)
    return unreadable.has('fleets') ? `${name} (not readable)` : `${name}, without a MacFleet yet`;
  const { turns, stop } = fleet.status ?? {};
  const turn = turns?.find((each) => each.uid === uid);
  return [
    name,
    ...(isRolloutPaused(fleet.spec) ? ['paused'] : []),
    ...(stop ? [`its rollout has stopped at ${stop.machine} (${stop.reason})`] : []),
    ...(turn
      ? [`this machine has a turn${turn.canary ? ', as the first' : ''}${turn.rollBack ? ', to roll back' : ''}`]
      : []),
  ].join(', ');
};

const short = (hash: string | undefined): string => (hash === undefined ? 'unknown' : hash.slice(0, 12));

const staleStatusRemedies = ({ metadata, status }: Machine, now: number): string[] => {
  const isStale = status?.observedGeneration !== undefined && status.observedGeneration < (metadata.generation ?? 0);
  const isNew = now - Date.parse(metadata.creationTimestamp) < 60_000;
  return isStale && !isNew
    ? ['The manager has not observed the latest spec of this machine. Check that it runs: tartan version.']
    : [];
};

const defaultFlags = parseFlags([], {});
if (!('options' in defaultFlags)) throw new Error('The manager has invalid default flags.');
const { bootstrap, update } = defaultFlags.options;
export const updateRetryAfterMs = update.retryAfterMs;

/** The facts that the manager decides by, as far as the cluster shows them. Hidden ones are taken from conditions, or assumed. */
const snapshotOf = (
  machine: Machine,
  { node, pods }: Mac,
  fleet: Fleet | undefined,
  { now, machines, hosts, nodes, clusters, managerFlags }: ExplainInput,
): MachineSnapshot => {
  const { metadata, spec, status = {} } = machine;
  const reasonOf = (type: string): string | undefined => getCondition(status.conditions, type)?.reason;
  const wanted = hostRequirements(
    machine,
    reasonOf('Provisioned') === 'NoAdoptPoolPrefix'
      ? undefined
      : (managerFlags.defaultPoolPrefix ?? serverNames.defaultPoolPrefix),
  );
  const desired = status.desiredHostConfigHash;
  const turn = fleet && findTurn(fleet, metadata.uid, desired);
  const [choice, chosen] = status.serverID
    ? [{ kind: 'not asked' } as const, undefined]
    : choiceFacts(
        {
          macHosts: listerOf(hosts, macHostIndexes),
          machines: listerOf(machines, machineIndexes),
          clock: { now: () => now },
        },
        machine,
        wanted,
      );
  const reserved = hosts.find(({ metadata: { name } }) => name === status.serverID);
  // A Node of another server may have the name of the machine.
  const namesake = node ?? nodes.find(({ metadata: { name } }) => name === metadata.name);
  const hasKeyFailure = ['Bootstrapped', 'Provisioned'].some((type) => reasonOf(type) === 'SSHKeyUnavailable');
  return {
    now,
    policy: { ...bootstrap, updateGiveUpAfter: update.giveUpAfter, updateRetryAfterMs },
    machine: {
      name: metadata.name,
      deleting: metadata.deletionTimestamp !== undefined,
      hasFinalizer: hasFinalizer(machine, finalizers.machine),
      // The manager sets it at once, and no other decision depends on it.
      blocksMove: true,
      providerID: spec.providerID || undefined,
      versionedPin: isVersionedPin(spec.os),
      poolPrefix: wanted.poolPrefix || undefined,
      allowedPoolPrefixes: reasonOf('Provisioned') === 'PoolPrefixNotAllowed' ? [] : [wanted.poolPrefix],
      status,
    },
    cluster: clusterFacts(
      machine,
      clusters,
      reasonOf('Allowed') === 'NamespaceNotAllowed' ? [] : [metadata.namespace ?? ''],
    ),
    fleetKey: hasKeyFailure
      ? { kind: 'unavailable', message: getCondition(status.conditions, 'Bootstrapped')?.message ?? '' }
      : { kind: 'ready' },
    choice,
    host: !status.serverID
      ? { kind: 'none' }
      : reserved
        ? hostFacts(reserved, machine)
        : {
            kind: 'absent',
            server: 'unknown',
            message: `There is no MacHost ${status.serverID}. If Scaleway still has the server, the inventory creates it again.`,
          },
    login: { kind: 'known', hasPassword: reasonOf('Bootstrapped') !== 'MissingSudoPassword' },
    failedRead: undefined,
    node: nodeFacts(namesake, machine, { missingForMs: () => Infinity }, reserved ?? chosen),
    join: { lease: undefined, identity: undefined },
    desired: desired === undefined ? { kind: 'not asked' } : { kind: 'known', hash: desired },
    turn: turn && { hash: turn.hash, rollBack: turn.rollBack === true },
    idle: pods && pods.length === 0,
    // Only the manager may read GitHub; the condition Deleting has the result.
    runner: { kind: 'not asked' },
  };
};

const unseenOf = ({ spec, status }: Machine, { host }: Mac, { managerFlags }: ExplainInput): string[] => [
  ...(spec.adoptPoolPrefix || managerFlags.defaultPoolPrefix || status?.serverID
    ? []
    : [
        `The flag --default-adopt-pool-prefix of the manager, which selects the pool: ${serverNames.defaultPoolPrefix} is assumed.`,
      ]),
  ...(host === undefined
    ? []
    : ['SSH sessions, and the Secrets with key and login: see the conditions and events below.']),
];
