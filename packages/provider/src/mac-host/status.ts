import {
  annotations,
  buildCondition,
  buildEvent,
  type ConditionReason,
  type ConditionType,
  type MacHostSpec,
  type MacHostStatus,
} from '@tartan/api';
import { type ConditionUpdate, type EventInput, getCondition, setConditions } from '@tartan/kube';
import { timestamp } from '@tartan/kube/clock';
import type { Host } from '../controller-deps.ts';
import { defined } from '../defined.ts';
import type { StrandedHost, StrandedVerdict } from '../sweep/decide.ts';
import { promisedPoolName } from './server-name.ts';
import {
  isClaimConfirmed,
  type Quarantine,
  quarantineLeftMs,
  type Release,
  type Snapshot,
  stateOf,
  type Wipe,
} from './snapshot.ts';
import { attemptsOf, stuckMessage, wipeOf } from './wipe.ts';

/** The whole status of a MacHost: what is remembered stays, everything else follows from the snapshot. */
export const statusOf = (
  { metadata: { generation }, status: said }: Host,
  snapshot: Snapshot,
  judge: JudgeStranded,
  failure?: ScalewayFailure,
): MacHostStatus => {
  const { spec, status, now } = snapshot;
  const { wipe, claim, gone } = status;
  const state = stateOf(snapshot);
  return defined({
    ...status,
    ...factsOf(snapshot),
    gone: isGone(snapshot.server, gone) || undefined,
    state,
    since: state && ((state === said?.state && said.since) || timestamp(now)),
    heldBy: heldByOf(snapshot, state),
    claim: claim?.uid === spec.consumerRef?.uid ? claim : undefined,
    // Of a release that is over nobody needs to know how it went.
    wipe: spec.release && wipe,
    conditions: setConditions(status.conditions, conditionsOf(snapshot, judge, failure), generation, now),
    observedGeneration: generation,
  });
};

/** Only Scaleway itself can say so, and only it can take that back. */
const isGone = (server: Snapshot['server'], wasGone = false): boolean =>
  server.kind === 'missing' && server.fresh ? true : server.kind !== 'seen' && wasGone;

/** What Scaleway does not say any more stays as it was said last. */
const factsOf = ({ server }: Snapshot): Partial<MacHostStatus> => {
  if (server.kind !== 'seen') return {};
  const { name, type, os, status, ip } = server.server;
  return defined({
    name: cut(name, 253),
    type: cut(type, 63),
    osFamily: os && cut(os.family, 63),
    osImage: os && cut(os.name, 253),
    serverStatus: cut(status, 63),
    ip: cut(ip, 45),
  });
};

/** The schema's bounds: a name that somebody made longer must not make the status unwritable. */
const cut = (text: string, longest: number): string => text.slice(0, longest);

const heldByOf = ({ spec, claimants }: Snapshot, state: MacHostStatus['state']): string | undefined => {
  if (state !== 'held') return undefined;
  if (spec.consumerRef) return `${spec.consumerRef.namespace}/${spec.consumerRef.name}`;
  return claimants.find(({ by }) => by === 'serverID')?.key;
};

/** What Scaleway refused or did not answer in this pass, in words. */
export interface ScalewayFailure {
  readonly during: 'read server' | 'rename';
  readonly message: string;
}

/** The sweep's view of a Mac that is stranded: the condition says what the sweep would do. */
export type JudgeStranded = (host: StrandedHost, now: number) => Pick<StrandedVerdict, 'reason' | 'message'>;

/** Undefined: what was said before stays. */
type MaybeCondition = ConditionUpdate | undefined;

const hostCondition = <Type extends ConditionType<'MacHost'>>(
  type: Type,
  reason: ConditionReason<'MacHost', Type>,
  message?: string,
): ConditionUpdate => buildCondition('MacHost', type, reason, message);

const conditionsOf = (
  snapshot: Snapshot,
  judge: JudgeStranded,
  failure: ScalewayFailure | undefined,
): readonly ConditionUpdate[] =>
  [
    listedCondition(snapshot, failure),
    namedCondition(snapshot, failure),
    wipedCondition(snapshot),
    quarantinedCondition(snapshot),
    strandedCondition(snapshot, judge),
    abandonedCondition(snapshot),
    pausedCondition(snapshot),
  ].filter((said) => said !== undefined);

const listedCondition = ({ server }: Snapshot, failure: ScalewayFailure | undefined): MaybeCondition => {
  if (failure?.during === 'read server') return hostCondition('Listed', 'ZoneNotListed', failure.message);
  switch (server.kind) {
    case 'seen':
      return hostCondition('Listed', 'Listed');
    case 'missing':
      return server.fresh ? hostCondition('Listed', 'Gone') : undefined;
    case 'unknown':
      // A manager that has just started knows nothing, which is no news of the Mac.
      return server.why === '' ? undefined : hostCondition('Listed', 'ZoneNotListed', server.why);
  }
};

const namedCondition = (snapshot: Snapshot, failure: ScalewayFailure | undefined): MaybeCondition => {
  const { spec, status, server, holder } = snapshot;
  if (failure?.during === 'rename') return hostCondition('Named', 'RenameRefused', failure.message);
  if (server.kind !== 'seen') return undefined;
  const { name, type, status: doing } = server.server;
  if (spec.release) {
    const isWiped = wipeOf(spec.release, status)?.readyAt !== undefined;
    const isRight = !isWiped && promisedPoolName(name, spec.release.poolPrefix) !== undefined;
    const { refusedAt, refusal } = wipeOf(spec.release, status) ?? {};
    if (!isRight && refusedAt !== undefined) return hostCondition('Named', 'RenameRefused', refusal);
    return hostCondition('Named', isRight ? 'NameMatches' : 'RenamePending');
  }
  if (!spec.consumerRef)
    return ['stranded', 'abandoned'].includes(stateOf(snapshot) ?? '')
      ? undefined
      : hostCondition('Named', 'NameMatches');
  if (name === spec.consumerRef.name) {
    if (isClaimConfirmed(snapshot)) return hostCondition('Named', 'NameMatches');
    const message =
      'It has the name of the machine. The machine waits a moment, in which another cluster could rename it.';
    return holder.kind === 'alive' ? hostCondition('Named', 'RenamePending', message) : undefined;
  }
  if (holder.kind === 'alive' && holder.type !== type) {
    const message = `The machine asks for a Mac of type ${holder.type} and this one is ${type}, so it is not given its name. Delete the Machine, or mend its template.`;
    return hostCondition('Named', 'RenameRefused', message);
  }
  if (doing === 'ready') return hostCondition('Named', 'RenamePending');
  return hostCondition('Named', 'RenamePending', `Scaleway says that it is ${doing}. It is renamed when it is ready.`);
};

const wipedCondition = (snapshot: Snapshot): MaybeCondition => {
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
  if (spec.consumerRef) return hostCondition('Wiped', 'InUse');
  switch (stateOf(snapshot)) {
    case 'pool':
    case 'quarantined':
      return hostCondition('Wiped', (status.installs ?? 0) > 0 ? 'Wiped' : 'NotSeen');
    case 'held':
      return hostCondition('Wiped', 'InUse');
    case 'stranded':
      return hostCondition('Wiped', 'NotSeen');
    case 'releasing':
    case 'abandoned':
    case undefined:
      return undefined;
  }
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

const quarantinedCondition = (snapshot: Snapshot): MaybeCondition => {
  const { spec, status, now } = snapshot;
  const wipe = spec.release && wipeOf(spec.release, status);
  if (wipe?.stuckAt !== undefined) {
    const { server } = snapshot;
    const doing = server.kind === 'seen' ? server.server.status : (status.serverStatus ?? 'unknown');
    return hostCondition('Quarantined', 'WipeFailed', stuckMessage(wipe, doing));
  }
  if (status.quarantine === undefined || !(quarantineLeftMs(status, now) > 0))
    return hostCondition('Quarantined', 'NotQuarantined');
  const { count, reason, until } = status.quarantine;
  const message = `${reason} Nobody claims it before ${until}. (Number ${count} of its quarantines.)`;
  if (spec.release?.reason === 'NotWiped') return hostCondition('Quarantined', 'NotWiped', message);
  if (spec.release?.reason === 'BootstrapExhausted') return hostCondition('Quarantined', 'BootstrapsFailed', message);
  // The release that said why is over.
  const before = getCondition(status.conditions, 'Quarantined')?.reason;
  return hostCondition(
    'Quarantined',
    before === 'NotWiped' || before === 'WipeFailed' ? before : 'BootstrapsFailed',
    message,
  );
};

const pausedCondition = ({ pauses }: Snapshot): MaybeCondition =>
  pauses.length > 0 ? hostCondition('Paused', 'Paused', `${pauses.join(', ')}.`) : hostCondition('Paused', 'NotPaused');

const strandedCondition = (snapshot: Snapshot, judge: JudgeStranded): MaybeCondition => {
  const { spec, status, server, claimants, now } = snapshot;
  const state = stateOf(snapshot);
  if (state === undefined) return undefined;
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

/** Nothing is said of a Mac that never was. */
const abandonedCondition = ({ abandoned: reason, status }: Snapshot): MaybeCondition => {
  if (reason !== undefined)
    return hostCondition(
      'Abandoned',
      'Abandoned',
      `A person has abandoned it (${reason}). It is not wiped, renamed, claimed or reclaimed, and Scaleway bills it. To end that, remove the annotation ${annotations.abandon}.`,
    );
  return getCondition(status.conditions, 'Abandoned') ? hostCondition('Abandoned', 'NotAbandoned') : undefined;
};

/** What people hear of a Mac when it happens. Each comes once; what lasts is a condition. */

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
