import { annotations, type HostState, hostStateMeanings, releaseReasonMeanings, serverNames } from '@tartan/api';
import { getCondition, keyOf } from '@tartan/kube';
import {
  claimBlockedBy,
  decideHost,
  holderFrom,
  hostRequirements,
  type HostSnapshot,
  hostStateOf,
  observeHost,
  ownerOf,
  strandedFacts,
  strandedVerdict,
  usualHostLimits,
} from '@tartan/provider/decisions';
import type { Server } from '@tartan/scaleway';
import { pausesOf } from '../cluster/macs.ts';
import type { Host } from '../cluster/state.ts';
import { ageSince } from '../output/age.ts';
import { hostDecisionText } from './decision-text.ts';
import {
  conditionsOf,
  type DecisionText,
  type ExplainDocument,
  type ExplainInput,
  type Explanation,
} from './explanation.ts';

type Facts = ExplainDocument['facts'];

/**
 * Why a Mac is where it is, by the very function that decides about it. Scaleway is not asked: what it said last is in the status, and
 * is taken for what it says now.
 */
export const explainHost = (host: Host, world: ExplainInput): Explanation => {
  const { metadata, status = {} } = host;
  const snapshot = snapshotOf(host, world);
  const decision = decideHost(snapshot);
  const state = hostStateOf(snapshot) ?? status.state;
  const meaning = state === undefined ? 'Nobody has looked at it yet.' : hostStateMeanings[state];
  const idle =
    snapshot.pauses.length > 0
      ? pausedText(snapshot.pauses)
      : state === 'stranded'
        ? strandedText(host, world)
        : idleText(host, state, world);
  const { text, next, remedies } = hostDecisionText(decision) ?? idle;
  const since = status.since === undefined ? '' : ` for ${ageSince(status.since, world.now)}`;
  return {
    subject: { kind: 'host', namespace: null, name: metadata.name },
    where: `The Mac ${metadata.name}${status.name ? ` (${status.name} at Scaleway)` : ''} is ${state === undefined ? 'unseen' : stateTexts[state]}${since}. ${meaning}`,
    decision: { word: decision.kind, text, from: 'computed' },
    facts: factsOf(host, world),
    next: [...next],
    remedies: [...remedies],
    unseen: [
      'What Scaleway says of the server at this moment: its last word is in the facts, and may be some minutes old.',
    ],
    conditions: conditionsOf('MacHost', status.conditions),
    relatedUIDs: [metadata.uid],
  };
};

const stateTexts: Readonly<Record<HostState, string>> = {
  pool: 'in the pool',
  held: 'held',
  releasing: 'on its way back to the pool',
  quarantined: 'in quarantine',
  stranded: 'stranded',
  abandoned: 'abandoned',
};

const snapshotOf = (
  host: Host,
  { now, machines, hosts, nodes, clusters, managerFlags }: ExplainInput,
): HostSnapshot => {
  const { metadata, spec, status } = host;
  const byKey = new Map(machines.map((machine) => [keyOf(machine.metadata), machine]));
  const seen = observeHost(
    {
      sightings: {
        get: () =>
          status?.name === undefined
            ? { kind: 'unknown', why: '' }
            : { kind: 'seen', server: lastKnownServer(host), at: now },
      },
      machines: { get: (key) => byKey.get(key), list: () => [...machines] },
      macHosts: { get: () => undefined, list: () => [...hosts] },
      nodes: { get: (name) => nodes.find(({ metadata: of }) => of.name === name), list: () => [...nodes] },
      clusters: { get: (key) => clusters.get(key), list: () => [...clusters.values()] },
      defaultPoolPrefix: managerFlags.defaultPoolPrefix ?? serverNames.defaultPoolPrefix,
      allowedPoolPrefixes: [managerFlags.defaultPoolPrefix ?? serverNames.defaultPoolPrefix],
      // A flag that is not known here: no machine is taken for one that is not allowed.
      machineNamespaces: machines.map((machine) => machine.metadata.namespace ?? ''),
      clock: { now: () => now },
      random: () => 0,
      limits: usualHostLimits,
    },
    host,
  );
  // All machines were read from the server a moment ago: who is not among them is gone.
  const holder = holderFrom(spec.consumerRef, metadata.name, spec.consumerRef && byKey.get(keyOf(spec.consumerRef)));
  return { ...seen, holder, server: seen.server.kind === 'seen' ? { ...seen.server, fresh: true } : seen.server };
};

/** What Scaleway said of the server when it was asked last. */
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

const pausedText = (pauses: readonly string[]): DecisionText => ({
  text: `Nothing is done to it: ${pauses.join(', ')}.`,
  next: ['Nothing, until that is taken away. A wipe that Scaleway has begun goes on.'],
  remedies: ['Take the pause away when whoever set it agrees.'],
});

const idleText = (
  { metadata, spec, status }: Host,
  state: HostState | undefined,
  world: ExplainInput,
): DecisionText => {
  const none = { next: [], remedies: [] };
  switch (state) {
    case 'pool':
      return {
        text: 'Nothing is to be done: it waits for a machine that wants one like it.',
        next: [waitingText(world)],
        remedies: [],
      };
    case 'held': {
      const name = spec.consumerRef?.name ?? status?.heldBy ?? '';
      return {
        ...none,
        text: 'Nothing is to be done here: what happens to it is up to its machine.',
        remedies: [`tartan explain ${name}`],
      };
    }
    case 'quarantined':
      return {
        text: `Nobody may claim it before ${status?.quarantine?.until ?? 'a time that is not known'}. ${status?.quarantine?.reason ?? ''}`,
        next: ['Then it is free again; those that failed least are taken first.'],
        remedies: [
          'If it fails again and again, have Scaleway look at it, or delete the server and order another one.',
        ],
      };
    case 'releasing':
      return {
        text: 'It waits for Scaleway, and is looked at again.',
        next: ['When it is seen reinstalling and ready again, it gets a name of the pool.'],
        remedies: [
          'The condition Wiped says how far it is. A reinstall takes 5 to 15 minutes; one that fails is asked for again.',
        ],
      };
    case 'abandoned':
      return {
        text: getCondition(status?.conditions, 'Abandoned')?.message ?? hostStateMeanings.abandoned,
        next: [
          spec.release
            ? 'When the annotation is removed, the release goes on and the Mac is wiped.'
            : 'When the annotation is removed, the Mac is judged by its name and its holder again.',
        ],
        remedies: [`To end that: kubectl annotate machost ${metadata.name} ${annotations.abandon}-`],
      };
    case 'stranded':
    case undefined:
      return {
        ...none,
        text: 'The manager has not looked at it yet.',
        next: ['The inventory lists its zone every few minutes.'],
      };
  }
};

const waitingText = ({ machines }: ExplainInput): string => {
  const waiting = machines.filter(({ status, metadata }) => !status?.serverID && !metadata.deletionTimestamp);
  return waiting.length === 0
    ? 'No machine waits for a Mac now.'
    : 'Machines wait for a Mac: whether for this one, see above.';
};

const strandedText = (host: Host, { now, managerFlags, machines }: ExplainInput): DecisionText => {
  const said = getCondition(host.status?.conditions, 'Stranded');
  const judged =
    managerFlags.claimNamePrefix === undefined && said?.status === 'True' && said.message !== ''
      ? said
      : strandedVerdict(strandedFacts(host, pausesOf(host)), managerFlags, now);
  const owner = ownerOf({ host, serverName: host.status?.name ?? '' }, machines);
  return {
    text: judged.message,
    next: owner
      ? [`The sweep leaves it alone: the machine ${keyOf(owner.metadata)} may need it.`]
      : [
          judged.reason === 'Reclaiming'
            ? 'The sweep asks once more who needs it, then it is wiped and put back.'
            : 'Nothing is done with it; it stays reported.',
        ],
    remedies: ['tartan orphans shows all of them, and what other flags of the manager would do.'],
  };
};

const maxMachines = 5;

const factsOf = (host: Host, world: ExplainInput): Facts => {
  const { spec, status = {} } = host;
  const { wipe, quarantine } = status;
  const holder = spec.consumerRef;
  const { release } = spec;
  return [
    {
      what: 'is',
      is: `${status.type ?? 'unknown type'} with ${status.osFamily ?? 'unknown OS'} in ${spec.zone}${status.ip ? `, ${status.ip}` : ''}`,
    },
    { what: 'at Scaleway', is: `named ${status.name ?? '?'}, ${status.serverStatus ?? '?'}` },
    {
      what: 'held by',
      is: holder ? `${holder.namespace}/${holder.name}${holderExists(host, world) ? '' : ', which is gone'}` : 'nobody',
    },
    ...(spec.poolPrefix ? [{ what: 'pool', is: spec.poolPrefix }] : []),
    ...(release
      ? [
          {
            what: 'goes back',
            is: `to the pool ${release.poolPrefix} since ${release.requestedAt}: ${release.message || releaseReasonMeanings[release.reason]}`,
          },
        ]
      : []),
    ...(wipe ? [{ what: 'wipe', is: wipeText(wipe) }] : []),
    ...(quarantine
      ? [{ what: 'quarantine', is: `number ${quarantine.count}, until ${quarantine.until}: ${quarantine.reason}` }]
      : []),
    ...(holder || release ? [] : waitingMachineFacts(host, world)),
  ];
};

const holderExists = ({ spec }: Host, { machines }: ExplainInput): boolean =>
  machines.some(({ metadata }) => metadata.uid === spec.consumerRef?.uid);

const wipeText = ({
  attempts = 1,
  requestedAt,
  refusedAt,
  stuckAt,
  reinstallingAt,
  readyAt,
}: NonNullable<NonNullable<Host['status']>['wipe']>): string =>
  [
    `asked for ${attempts === 1 ? 'once' : `${attempts} times`}${requestedAt ? `, last at ${requestedAt}` : ''}`,
    ...(refusedAt ? [`refused at ${refusedAt}`] : []),
    ...(stuckAt ? [`stuck since ${stuckAt}`] : []),
    ...(reinstallingAt ? [`seen to begin at ${reinstallingAt}`] : ['not seen to begin']),
    ...(readyAt ? [`done at ${readyAt}`] : []),
  ].join(', ');

/** Who looks for a Mac, and what keeps each from taking this one. */
const waitingMachineFacts = (host: Host, { machines, now, managerFlags }: ExplainInput): Facts =>
  machines
    .filter(({ metadata, status }) => !status?.serverID && !metadata.deletionTimestamp)
    .slice(0, maxMachines)
    .map((machine) => {
      const prefix = managerFlags.defaultPoolPrefix ?? serverNames.defaultPoolPrefix;
      const obstacle = claimBlockedBy(hostRequirements(machine, prefix), host, now);
      return {
        what: `for ${machine.metadata.name}`,
        is: obstacle === undefined ? 'it would do' : `it will not do: ${obstacle}`,
      };
    });
