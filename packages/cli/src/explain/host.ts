import { annotations, type HostState, hostStateMeanings, releaseReasonMeanings, serverNames } from '@tartan/api';
import { getCondition, keyOf } from '@tartan/kube';
import {
  claimBlockedBy,
  decideHost,
  holderFrom,
  hostRequirements,
  type HostSnapshot,
  hostStateOf,
  listerOf,
  machineIndexes,
  macHostIndexes,
  nodeIndexes,
  observeHost,
  ownerOf,
  poolPrefixesOf,
  strandedFacts,
  strandedVerdict,
  usualHostLimits,
} from '@tartan/provider/decisions';
import type { Server } from '@tartan/scaleway';
import { isWaiting, pausesOf } from '../cluster/macs.ts';
import type { Host } from '../cluster/state.ts';
import { ageSince } from '../output/age.ts';
import { hostDecisionText } from './decision-text.ts';
import {
  conditionsOf,
  type DecisionText,
  decisionText,
  definedFacts,
  type ExplainInput,
  type Explanation,
  type Facts,
} from './explanation.ts';

/** Explains a Mac with the decision function of its controller. The last known answer of Scaleway is taken from the status. */
export const explainHost = (host: Host, input: ExplainInput): Explanation => {
  const { metadata, status = {} } = host;
  const snapshot = snapshotOf(host, input);
  const decision = decideHost(snapshot);
  const state = hostStateOf(snapshot) ?? status.state;
  const meaning = state === undefined ? 'The manager has not observed it yet.' : hostStateMeanings[state];
  const { text, next, remedies } = hostDecisionText(decision) ?? idleText(host, state, snapshot.pauses, input);
  const since = status.since === undefined ? '' : ` for ${ageSince(status.since, input.now)}`;
  return {
    where: `The Mac ${metadata.name}${status.name ? ` (${status.name} at Scaleway)` : ''} is ${state === undefined ? 'unseen' : stateTexts[state]}${since}. ${meaning}`,
    decision: { word: decision.kind, text, from: 'computed' },
    facts: factsOf(host, input),
    next,
    remedies,
    unseen: ['The current answer of Scaleway: the facts show the last known one, which can be some minutes old.'],
    conditions: conditionsOf('MacHost', status.conditions),
  };
};

const stateTexts: Readonly<Record<HostState, string>> = {
  pool: 'in the pool',
  held: 'held',
  releasing: 'being released to the pool',
  quarantined: 'in quarantine',
  stranded: 'stranded',
  abandoned: 'abandoned',
};

const poolPrefixOf = ({ managerFlags }: ExplainInput): string =>
  managerFlags.defaultPoolPrefix ?? serverNames.defaultPoolPrefix;

const snapshotOf = (host: Host, input: ExplainInput): HostSnapshot => {
  const { now, machines, hosts, nodes, clusters } = input;
  const { metadata, spec, status } = host;
  const listed = listerOf(machines, machineIndexes);
  const observed = observeHost(
    {
      serverCache: {
        get: () =>
          status?.name === undefined
            ? { kind: 'unknown', why: '' }
            : { kind: 'seen', server: lastKnownServer(host), at: now },
      },
      machines: listed,
      macHosts: listerOf(hosts, macHostIndexes),
      nodes: listerOf(nodes, nodeIndexes),
      clusters: { get: (key) => clusters.get(key), list: () => [...clusters.values()] },
      poolPrefixes: () => poolPrefixesOf([poolPrefixOf(input)], hosts),
      defaultPoolPrefix: poolPrefixOf(input),
      allowedPoolPrefixes: [poolPrefixOf(input)],
      // The flag is not visible: all namespaces count as allowed.
      machineNamespaces: machines.map((machine) => machine.metadata.namespace ?? ''),
      clock: { now: () => now },
      random: () => 0,
      limits: usualHostLimits,
    },
    host,
  );
  // All machines were just listed: a machine that is not among them does not exist.
  const holder = holderFrom(spec.consumerRef, metadata.name, spec.consumerRef && listed.get(keyOf(spec.consumerRef)));
  const { server } = observed;
  return { ...observed, holder, server: server.kind === 'seen' ? { ...server, fresh: true } : server };
};

const lastKnownServer = ({ metadata, spec, status = {} }: Host): Server => ({
  id: metadata.name,
  zone: spec.zone,
  name: status.name ?? '',
  type: status.type ?? '',
  status: status.serverStatus ?? '',
  delivered: true,
  os: { id: '', name: status.osImage ?? '', family: status.osFamily ?? '' },
  ip: status.ip ?? '',
  sshUsername: '',
  password: undefined,
  createdAt: '',
});

/** For a Mac for which the manager has nothing to do. */
const idleText = (
  host: Host,
  state: HostState | undefined,
  pauses: readonly string[],
  input: ExplainInput,
): DecisionText => {
  const { metadata, spec, status } = host;
  if (pauses.length > 0)
    return decisionText(
      `Paused: ${pauses.join(', ')}.`,
      ['Nothing until the pause ends. A reinstall that Scaleway has started continues.'],
      ['Remove the pause. Ask the person who set it first.'],
    );
  switch (state) {
    case 'pool':
      return decisionText('Nothing to do: the Mac is free for a machine that requests this type.', [
        input.machines.some(isWaiting)
          ? 'Machines wait for a Mac: the facts show which of them can use this one.'
          : 'No machine waits for a Mac.',
      ]);
    case 'held':
      return decisionText(
        'Nothing to do: its machine decides what happens to it.',
        [],
        [`tartan explain ${spec.consumerRef?.name ?? status?.heldBy ?? ''}`],
      );
    case 'quarantined':
      return decisionText(
        `In quarantine until ${status?.quarantine?.until ?? 'an unknown time'}. ${status?.quarantine?.reason ?? ''}`,
        ['Then machines can claim it again; Macs with fewer failures come first.'],
        ['If it fails repeatedly: contact Scaleway, or delete the server and order another one.'],
      );
    case 'releasing':
      return decisionText(
        'The manager waits for Scaleway.',
        ['After the reinstall, the manager renames the Mac and returns it to the pool.'],
        [
          'The condition Wiped shows the progress. A reinstall takes 5 to 15 minutes; the manager requests a failed one again.',
        ],
      );
    case 'abandoned':
      return decisionText(
        getCondition(status?.conditions, 'Abandoned')?.message ?? hostStateMeanings.abandoned,
        [
          spec.release
            ? 'When the annotation is removed, the release continues and the Mac is wiped.'
            : 'When the annotation is removed, the manager decides by the name and the holder of the Mac again.',
        ],
        [`To end this: kubectl annotate machost ${metadata.name} ${annotations.abandon}-`],
      );
    case 'stranded':
      return strandedText(host, input);
    case undefined:
      return decisionText('The manager has not observed it yet.', ['The inventory lists its zone every few minutes.']);
  }
};

const strandedText = (host: Host, { now, managerFlags, machines }: ExplainInput): DecisionText => {
  const reported = getCondition(host.status?.conditions, 'Stranded');
  const verdict =
    managerFlags.claimNamePrefix === undefined && reported?.status === 'True' && reported.message !== ''
      ? reported
      : strandedVerdict(strandedFacts(host, pausesOf(host)), managerFlags, now);
  const owner = ownerOf({ host, serverName: host.status?.name ?? '' }, machines);
  const next = owner
    ? `The sweep skips it: the machine ${keyOf(owner.metadata)} may need it.`
    : verdict.reason === 'Reclaiming'
      ? 'The sweep checks again that no machine needs it, then wipes it and returns it to the pool.'
      : 'The sweep only reports it.';
  return decisionText(
    verdict.message,
    [next],
    ['tartan orphans lists all stranded Macs, and what other flags of the manager would do.'],
  );
};

const maxMachines = 5;

const factsOf = (host: Host, input: ExplainInput): Facts => {
  const { spec, status = {} } = host;
  const { wipe, quarantine } = status;
  const { consumerRef: holder, release } = spec;
  const holderExists = input.machines.some(({ metadata }) => metadata.uid === holder?.uid);
  return [
    ...definedFacts({
      is: hardwareText(host),
      'at Scaleway': serverText(host),
      'held by': holder ? `${keyOf(holder)}${holderExists ? '' : ', which does not exist'}` : 'no machine',
      pool: spec.poolPrefix || undefined,
      release:
        release &&
        `to the pool ${release.poolPrefix} since ${release.requestedAt}: ${release.message || releaseReasonMeanings[release.reason]}`,
      wipe: wipe && wipeText(wipe),
      quarantine: quarantine && `number ${quarantine.count}, until ${quarantine.until}: ${quarantine.reason}`,
    }),
    ...(holder || release ? [] : waitingMachineFacts(host, input)),
  ];
};

export const hardwareText = ({ spec, status = {} }: Host): string =>
  `${status.type ?? 'unknown type'} with ${status.osFamily ?? 'unknown OS'} in ${spec.zone}${status.ip ? `, ${status.ip}` : ''}`;

export const serverText = ({ status = {} }: Host): string =>
  `named ${status.name ?? '?'}, ${status.serverStatus ?? '?'}`;

const wipeText = ({
  attempts = 1,
  requestedAt,
  refusedAt,
  stuckAt,
  reinstallingAt,
  readyAt,
}: NonNullable<NonNullable<Host['status']>['wipe']>): string =>
  [
    `requested ${attempts === 1 ? 'once' : `${attempts} times`}${requestedAt ? `, last at ${requestedAt}` : ''}`,
    ...(refusedAt ? [`refused at ${refusedAt}`] : []),
    ...(stuckAt ? [`stuck since ${stuckAt}`] : []),
    reinstallingAt ? `started at ${reinstallingAt}` : 'not started',
    ...(readyAt ? [`done at ${readyAt}`] : []),
  ].join(', ');

/** The machines that wait for a Mac, and why each cannot claim this one. */
const waitingMachineFacts = (host: Host, input: ExplainInput): Facts =>
  input.machines
    .filter(isWaiting)
    .slice(0, maxMachines)
    .map((machine) => {
      const blockedBy = claimBlockedBy(hostRequirements(machine, poolPrefixOf(input)), host, input.now);
      return {
        what: `for ${machine.metadata.name}`,
        is: blockedBy === undefined ? 'suitable' : `not suitable: ${blockedBy}`,
      };
    });
