import { annotations, type ConditionReason, type ConditionType, say } from '@tartan/api';
import { type ConditionUpdate, getCondition } from '@tartan/kube';
import type { StrandedHost, StrandedVerdict } from '../sweep/verdict.ts';
import { promisedPoolName } from './server-name.ts';
import type { Release, Snapshot, Wipe } from './snapshot.ts';
import { isSettled, quarantineLeftMs, stateOf } from './state.ts';
import { attemptsOf, stuckMessage, wipeOf } from './wipe.ts';

/** What Scaleway refused or did not answer in this pass, in words. */
export interface Trouble {
  readonly during: 'look' | 'rename';
  readonly message: string;
}

/** The sweep's view of a Mac that is stranded: the condition says what the sweep would do. */
export type JudgeStranded = (host: StrandedHost, now: number) => Pick<StrandedVerdict, 'reason' | 'message'>;

/** Undefined: what was said before stays. */
type Said = ConditionUpdate | undefined;

const sayOf = <Type extends ConditionType<'MacHost'>>(
  type: Type,
  reason: ConditionReason<'MacHost', Type>,
  message?: string,
): ConditionUpdate => say('MacHost', type, reason, message);

export const conditionsOf = (
  snapshot: Snapshot,
  judge: JudgeStranded,
  trouble: Trouble | undefined,
): readonly ConditionUpdate[] =>
  [
    listed(snapshot, trouble),
    named(snapshot, trouble),
    wiped(snapshot),
    quarantined(snapshot),
    stranded(snapshot, judge),
    abandoned(snapshot),
    paused(snapshot),
  ].filter((said) => said !== undefined);

const listed = ({ server }: Snapshot, trouble: Trouble | undefined): Said => {
  if (trouble?.during === 'look') return sayOf('Listed', 'ZoneNotListed', trouble.message);
  switch (server.kind) {
    case 'seen':
      return sayOf('Listed', 'Listed');
    case 'missing':
      return server.fresh ? sayOf('Listed', 'Gone') : undefined;
    case 'unknown':
      // A manager that has just started knows nothing, which is no news of the Mac.
      return server.why === '' ? undefined : sayOf('Listed', 'ZoneNotListed', server.why);
  }
};

const named = (snapshot: Snapshot, trouble: Trouble | undefined): Said => {
  const { spec, status, server, holder } = snapshot;
  if (trouble?.during === 'rename') return sayOf('Named', 'RenameRefused', trouble.message);
  if (server.kind !== 'seen') return undefined;
  const { name, type, status: doing } = server.server;
  if (spec.release) {
    const isWiped = wipeOf(spec.release, status)?.readyAt !== undefined;
    const isRight = !isWiped && promisedPoolName(name, spec.release.poolPrefix) !== undefined;
    const { refusedAt, refusal } = wipeOf(spec.release, status) ?? {};
    if (!isRight && refusedAt !== undefined) return sayOf('Named', 'RenameRefused', refusal);
    return sayOf('Named', isRight ? 'NameMatches' : 'RenamePending');
  }
  if (!spec.consumerRef)
    return ['stranded', 'abandoned'].includes(stateOf(snapshot) ?? '') ? undefined : sayOf('Named', 'NameMatches');
  if (name === spec.consumerRef.name) {
    if (isSettled(snapshot)) return sayOf('Named', 'NameMatches');
    const message =
      'It has the name of the machine. The machine waits a moment, in which another cluster could rename it.';
    return holder.kind === 'alive' ? sayOf('Named', 'RenamePending', message) : undefined;
  }
  if (holder.kind === 'alive' && holder.type !== type) {
    const message = `The machine asks for a Mac of type ${holder.type} and this one is ${type}, so it is not given its name. Delete the Machine, or mend its template.`;
    return sayOf('Named', 'RenameRefused', message);
  }
  if (doing === 'ready') return sayOf('Named', 'RenamePending');
  return sayOf('Named', 'RenamePending', `Scaleway says that it is ${doing}. It is renamed when it is ready.`);
};

const wiped = (snapshot: Snapshot): Said => {
  const { spec, status, server } = snapshot;
  if (spec.release) {
    const wipe = wipeOf(spec.release, status);
    if (attemptsOf(wipe) === 0 || wipe === undefined) return sayOf('Wiped', beforeWipe[spec.release.reason]);
    if (wipe.readyAt !== undefined) return sayOf('Wiped', 'Wiped');
    if (wipe.reinstallingAt === undefined)
      return wipe.refusal === undefined ? sayOf('Wiped', 'WipeRequested') : sayOf('Wiped', 'WipeFailed', refused(wipe));
    return sayOf('Wiped', server.kind === 'seen' && server.server.status === 'error' ? 'WipeFailed' : 'Reinstalling');
  }
  if (spec.consumerRef) return sayOf('Wiped', 'InUse');
  switch (stateOf(snapshot)) {
    case 'pool':
    case 'quarantined':
      return sayOf('Wiped', (status.installs ?? 0) > 0 ? 'Wiped' : 'NotSeen');
    case 'held':
      return sayOf('Wiped', 'InUse');
    case 'stranded':
      return sayOf('Wiped', 'NotSeen');
    case 'releasing':
    case 'abandoned':
    case undefined:
      return undefined;
  }
};

const beforeWipe: Readonly<Record<Release['reason'], ConditionReason<'MacHost', 'Wiped'>>> = {
  MachineDeleted: 'InUse',
  BootstrapExhausted: 'InUse',
  Stranded: 'InUse',
  Requested: 'InUse',
  NotWiped: 'NotWiped',
  OtherOSWanted: 'WipeRequested',
};

const refused = (wipe: Wipe): string => {
  const times = attemptsOf(wipe);
  return `${wipe.refusal} It was asked for ${times === 1 ? 'once' : `${times} times`}, and is asked for again.`;
};

const quarantined = (snapshot: Snapshot): Said => {
  const { spec, status, now } = snapshot;
  const wipe = spec.release && wipeOf(spec.release, status);
  if (wipe?.stuckAt !== undefined) {
    const { server } = snapshot;
    const doing = server.kind === 'seen' ? server.server.status : (status.serverStatus ?? 'unknown');
    return sayOf('Quarantined', 'WipeFailed', stuckMessage(wipe, doing));
  }
  if (status.quarantine === undefined || !(quarantineLeftMs(status, now) > 0))
    return sayOf('Quarantined', 'NotQuarantined');
  const { count, reason, until } = status.quarantine;
  const message = `${reason} Nobody claims it before ${until}. (Number ${count} of its quarantines.)`;
  if (spec.release?.reason === 'NotWiped') return sayOf('Quarantined', 'NotWiped', message);
  if (spec.release?.reason === 'BootstrapExhausted') return sayOf('Quarantined', 'BootstrapsFailed', message);
  // The release that said why is over.
  const before = getCondition(status.conditions, 'Quarantined')?.reason;
  return sayOf('Quarantined', before === 'NotWiped' || before === 'WipeFailed' ? before : 'BootstrapsFailed', message);
};

const paused = ({ pauses }: Snapshot): Said =>
  pauses.length > 0 ? sayOf('Paused', 'Paused', `${pauses.join(', ')}.`) : sayOf('Paused', 'NotPaused');

const stranded = (snapshot: Snapshot, judge: JudgeStranded): Said => {
  const { spec, status, server, claimants, now } = snapshot;
  const state = stateOf(snapshot);
  if (state === undefined) return undefined;
  if (state === 'abandoned')
    return sayOf('Stranded', 'Accounted', 'A person has abandoned it. The sweep leaves it alone.');
  if (state !== 'stranded') return sayOf('Stranded', 'Accounted');
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
  return sayOf('Stranded', reason, message);
};

/** Nothing is said of a Mac that never was. */
const abandoned = ({ abandoned: reason, status }: Snapshot): Said => {
  if (reason !== undefined)
    return sayOf(
      'Abandoned',
      'Abandoned',
      `A person has abandoned it (${reason}). It is not wiped, renamed, claimed or reclaimed, and Scaleway bills it. To end that, remove the annotation ${annotations.abandon}.`,
    );
  return getCondition(status.conditions, 'Abandoned') ? sayOf('Abandoned', 'NotAbandoned') : undefined;
};
