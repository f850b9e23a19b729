import {
  annotations,
  buildCondition,
  buildEvent,
  type ConditionReason,
  type ConditionType,
  type MacHostSpec,
  type MacHostStatus,
} from '@tartan/api';
import { type ConditionUpdate, type EventInput, setConditions } from '@tartan/kube';
import { timestamp } from '@tartan/kube/clock';
import type { Host } from '../controller-deps.ts';
import { omitUndefined } from '../omit-undefined.ts';
import type { StrandedHost, StrandedVerdict } from '../sweep/decide.ts';
import { promisedPoolName } from './server-name.ts';
import {
  isClaimConfirmed,
  type Quarantine,
  type Release,
  type ServerFacts,
  type Snapshot,
  stateOf,
  type Wipe,
} from './snapshot.ts';
import { attemptsOf, isQuarantined, stuckMessage, wipeOf } from './wipe.ts';

/** The whole status of a MacHost: records are kept, everything else follows from the snapshot. */
export const statusOf = (
  { metadata: { generation }, status: said }: Host,
  snapshot: Snapshot,
  judge: JudgeStranded,
  failure?: ScalewayFailure,
): MacHostStatus => {
  const { spec, status, now } = snapshot;
  const { wipe, claim, gone } = status;
  const state = stateOf(snapshot);
  return omitUndefined({
    ...status,
    ...factsOf(snapshot),
    gone: isGone(snapshot.server, gone) || undefined,
    state,
    since: state && ((state === said?.state && said.since) || timestamp(now)),
    heldBy: heldByOf(snapshot, state),
    claim: claim?.uid === spec.consumerRef?.uid ? claim : undefined,
    // The records of a finished release are dropped.
    wipe: spec.release && wipe,
    conditions: setConditions(status.conditions, conditionsOf(snapshot, judge, failure), generation, now),
    observedGeneration: generation,
  });
};

/** Only a response of Scaleway sets or clears it. */
const isGone = (server: Snapshot['server'], wasGone = false): boolean =>
  server.kind === 'missing' && server.fresh ? true : server.kind !== 'seen' && wasGone;

/** Keeps the last known values while Scaleway reports none. */
const factsOf = ({ server }: Snapshot): Partial<MacHostStatus> => {
  if (server.kind !== 'seen') return {};
  const { name, type, os, status, ip } = server.server;
  return omitUndefined({
    name: cut(name, 253),
    type: cut(type, 63),
    osFamily: os && cut(os.family, 63),
    osImage: os && cut(os.name, 253),
    serverStatus: cut(status, 63),
    ip: cut(ip, 45),
  });
};

/** The schema's limits: a longer name must not make the status unwritable. */
const cut = (text: string, longest: number): string => text.slice(0, longest);

const heldByOf = ({ spec, claimants }: Snapshot, state: MacHostStatus['state']): string | undefined => {
  if (state !== 'held') return undefined;
  if (spec.consumerRef) return `${spec.consumerRef.namespace}/${spec.consumerRef.name}`;
  return claimants.find(({ by }) => by === 'serverID')?.key;
};

/** What Scaleway refused or did not answer in this pass. */
export interface ScalewayFailure {
  readonly during: 'read server' | 'rename';
  readonly message: string;
}

/** The sweep's verdict on a stranded Mac: the condition reports what the sweep would do. */
export type JudgeStranded = (host: StrandedHost, now: number) => Pick<StrandedVerdict, 'reason' | 'message'>;

const hostCondition = <Type extends ConditionType<'MacHost'>>(
  type: Type,
  reason: ConditionReason<'MacHost', Type>,
  message?: string,
): ConditionUpdate => buildCondition('MacHost', type, reason, message);

/** Every condition, from the snapshot alone. */
export const conditionsOf = (
  snapshot: Snapshot,
  judge: JudgeStranded,
  failure: ScalewayFailure | undefined,
): readonly ConditionUpdate[] => [
  listedCondition(snapshot, failure),
  namedCondition(snapshot, failure),
  wipedCondition(snapshot),
  quarantinedCondition(snapshot),
  strandedCondition(snapshot, judge),
  abandonedCondition(snapshot),
  pausedCondition(snapshot),
];

/** The server as last seen. A restart of the manager, or a zone that cannot be listed, does not change it. */
const lastSeen = ({ server, status }: Snapshot): Pick<ServerFacts, 'name' | 'status' | 'type'> | undefined => {
  if (server.kind === 'seen') return server.server;
  const { name, type = '', serverStatus = 'unknown' } = status;
  return name === undefined ? undefined : { name, type, status: serverStatus };
};

const neverSeen = 'The manager has not seen it at Scaleway yet.';

const listedCondition = (snapshot: Snapshot, failure: ScalewayFailure | undefined): ConditionUpdate => {
  const { server, status } = snapshot;
  if (failure?.during === 'read server') return hostCondition('Listed', 'ZoneNotListed', failure.message);
  if (server.kind === 'unknown' && server.why !== '') return hostCondition('Listed', 'ZoneNotListed', server.why);
  if (isGone(server, status.gone)) return hostCondition('Listed', 'Gone');
  if (lastSeen(snapshot) === undefined) return hostCondition('Listed', 'ZoneNotListed', neverSeen);
  return hostCondition('Listed', 'Listed');
};

const namedCondition = (snapshot: Snapshot, failure: ScalewayFailure | undefined): ConditionUpdate => {
  const { spec, status, holder } = snapshot;
  if (failure?.during === 'rename') return hostCondition('Named', 'RenameRefused', failure.message);
  const server = lastSeen(snapshot);
  if (server === undefined) return hostCondition('Named', 'RenamePending', neverSeen);
  const { name, type, status: doing } = server;
  if (spec.release) {
    const isWiped = wipeOf(spec.release, status)?.readyAt !== undefined;
    const isRight = !isWiped && promisedPoolName(name, spec.release.poolPrefix) !== undefined;
    const { refusedAt, refusal } = wipeOf(spec.release, status) ?? {};
    if (!isRight && refusedAt !== undefined) return hostCondition('Named', 'RenameRefused', refusal);
    return hostCondition('Named', isRight ? 'NameMatches' : 'RenamePending');
  }
  if (!spec.consumerRef) return hostCondition('Named', 'NameMatches');
  if (name === spec.consumerRef.name) {
    if (isClaimConfirmed(snapshot)) return hostCondition('Named', 'NameMatches');
    const message =
      'It has the name of the machine. The machine waits a moment, in which another cluster could rename it.';
    return hostCondition('Named', 'RenamePending', message);
  }
  if (holder.kind === 'alive' && holder.type !== type) {
    const message = `The machine asks for a Mac of type ${holder.type} and this one is ${type}, so it is not given its name. Delete the Machine, or mend its template.`;
    return hostCondition('Named', 'RenameRefused', message);
  }
  if (doing === 'ready') return hostCondition('Named', 'RenamePending');
  return hostCondition('Named', 'RenamePending', `Scaleway says that it is ${doing}. It is renamed when it is ready.`);
};

const wipedCondition = (snapshot: Snapshot): ConditionUpdate => {
  const { spec, status, server } = snapshot;
  if (spec.release) {
    const wipe = wipeOf(spec.release, status);
    if (attemptsOf(wipe) === 0 || wipe === undefined)
      return hostCondition('Wiped', reasonBeforeWipe[spec.release.reason]);
    if (wipe.readyAt !== undefined) return hostCondition('Wiped', 'Wiped');
    if (wipe.reinstallingAt === undefined)
      return wipe.refusal === undefined
        ? hostCondition('Wiped', 'WipeRequested')
        : hostCondition('Wiped', 'WipeFailed', refusedMessage(wipe));
    return hostCondition(
      'Wiped',
      server.kind === 'seen' && server.server.status === 'error' ? 'WipeFailed' : 'Reinstalling',
    );
  }
  const state = stateOf(snapshot);
  if (spec.consumerRef || state === 'held') return hostCondition('Wiped', 'InUse');
  if (state === 'abandoned')
    return hostCondition('Wiped', 'NotSeen', 'The Mac is abandoned: its disk is not observed.');
  const isWiped = (state === 'pool' || state === 'quarantined') && (status.installs ?? 0) > 0;
  return hostCondition('Wiped', isWiped ? 'Wiped' : 'NotSeen');
};

const reasonBeforeWipe: Readonly<Record<Release['reason'], ConditionReason<'MacHost', 'Wiped'>>> = {
  MachineDeleted: 'InUse',
  BootstrapExhausted: 'InUse',
  Stranded: 'InUse',
  Requested: 'InUse',
  NotWiped: 'NotWiped',
  OtherOSWanted: 'WipeRequested',
};

const refusedMessage = (wipe: Wipe): string => {
  const times = attemptsOf(wipe);
  return `${wipe.refusal} It was asked for ${times === 1 ? 'once' : `${times} times`}, and is asked for again.`;
};

const quarantinedCondition = (snapshot: Snapshot): ConditionUpdate => {
  const { spec, status, now } = snapshot;
  const wipe = spec.release && wipeOf(spec.release, status);
  if (wipe?.stuckAt !== undefined) {
    const { server } = snapshot;
    const doing = server.kind === 'seen' ? server.server.status : (status.serverStatus ?? 'unknown');
    return hostCondition('Quarantined', 'WipeFailed', stuckMessage(wipe, doing));
  }
  if (status.quarantine === undefined || !isQuarantined(status, now))
    return hostCondition('Quarantined', 'NotQuarantined');
  const { count, reason, cause = 'BootstrapsFailed', until } = status.quarantine;
  const message = `${reason} Nobody claims it before ${until}. (Number ${count} of its quarantines.)`;
  return hostCondition('Quarantined', cause, message);
};

const pausedCondition = ({ pauses }: Snapshot): ConditionUpdate =>
  pauses.length > 0 ? hostCondition('Paused', 'Paused', `${pauses.join(', ')}.`) : hostCondition('Paused', 'NotPaused');

const strandedCondition = (snapshot: Snapshot, judge: JudgeStranded): ConditionUpdate => {
  const { spec, status, server, claimants, now } = snapshot;
  const state = stateOf(snapshot);
  if (state === 'abandoned')
    return hostCondition('Stranded', 'Accounted', 'A person has abandoned it. The sweep leaves it alone.');
  if (state !== 'stranded') return hostCondition('Stranded', 'Accounted');
  const since = status.state === 'stranded' && status.since !== undefined ? Date.parse(status.since) : undefined;
  const { reason, message } = judge(
    {
      name: server.kind === 'seen' ? server.server.name : status.name,
      since,
      poolPrefix: spec.poolPrefix,
      hadHolder: spec.consumerRef !== undefined,
      namesake: claimants.find(({ by }) => by === 'name')?.key,
      pauses: snapshot.pauses,
    },
    now,
  );
  return hostCondition('Stranded', reason, message);
};

const abandonedCondition = ({ abandoned: reason }: Snapshot): ConditionUpdate =>
  reason === undefined
    ? hostCondition('Abandoned', 'NotAbandoned')
    : hostCondition(
        'Abandoned',
        'Abandoned',
        `A person has abandoned it (${reason}). It is not wiped, renamed, claimed or reclaimed, and Scaleway bills it. To end that, remove the annotation ${annotations.abandon}.`,
      );

/** Events. Each is sent once; what lasts is a condition. */

export const renamedEvent = (from: string, to: string, wasInPool: boolean): EventInput =>
  wasInPool
    ? buildEvent('Claimed', `The machine ${to} holds the Mac, which was ${from} at Scaleway.`)
    : buildEvent('NameRepaired', `Its name at Scaleway was ${from}. It is ${to} again, as its holder is called.`);

export const wipeRequestedEvent = ({ attempts = 1 }: Wipe, image: string | undefined): EventInput =>
  buildEvent(
    'WipeRequested',
    `Scaleway was asked to reinstall it with ${image ?? 'the default image of its type'}. (Attempt ${attempts}.)`,
  );

export const noImageEvent = (family: string, type: string): EventInput =>
  buildEvent(
    'OSPinUnavailable',
    `Scaleway has no image of ${family} for ${type} any more, so its default is installed. Machines that ask for ${family} will not find this Mac: set spec.os of their template to a family that there is.`,
  );

export const quarantinedEvent = ({ count, reason, until }: Quarantine): EventInput =>
  buildEvent('Quarantined', `${reason} Nobody claims it before ${until}. (Number ${count} of its quarantines.)`);

export const wipeStuckEvent = (wipe: Wipe, doing: string | undefined): EventInput =>
  buildEvent('Quarantined', stuckMessage(wipe, doing ?? 'unknown'));

export const otherOSWantedEvent = (from: string | undefined, to: string): EventInput =>
  buildEvent(
    'OtherOSWanted',
    `It was free with ${from ?? 'unknown OS'}. A machine waits for ${to}, so it is reinstalled.`,
  );

export const returnedToPoolEvent = (name: string): EventInput =>
  buildEvent('ReturnedToPool', `It was seen to be wiped, and is called ${name}.`);

export const takenByOthersEvent = (name: string, { consumerRef, release }: MacHostSpec): EventInput =>
  buildEvent(
    'TakenByOthers',
    `At Scaleway the server is called ${name}: another cluster or a person has it. ${
      consumerRef
        ? `The machine ${consumerRef.namespace}/${consumerRef.name}, which was claiming it, takes another one.`
        : `It was to be wiped and put back into the pool ${release?.poolPrefix ?? ''}, and is not.`
    } Look at who uses it; to give it back, rename it to a name of the pool at Scaleway.`,
  );
