import { annotations, type MacHostStatus, releaseReasonMeanings } from '@tartan/api';
import { backoffMs } from '@tartan/kube';
import { timestamp } from '@tartan/kube/clock';
import { defined } from '../defined.ts';
import type { Limits, Quarantine, Release, Snapshot, Wipe } from './snapshot.ts';

/** What is remembered of a wipe. All of it is written before what it remembers is done, and none is believed for another release. */

/** The wipe that this release has asked for. One that is older than the release was another's. */
export const wipeOf = (release: Release, { wipe }: MacHostStatus): Wipe | undefined => {
  const requestedAt = Date.parse(wipe?.requestedAt ?? '');
  return requestedAt >= Date.parse(release.requestedAt) ? wipe : undefined;
};

export const attemptsOf = (wipe: Wipe | undefined): number => (wipe === undefined ? 0 : (wipe.attempts ?? 1));

/** What was refused, and that it is stuck, is known until a wipe is seen to begin or to end. */
export const nextWipe = (release: Release, wipe: Wipe | undefined, now: number): Wipe => {
  const { refusal, image, stuckAt } = wipe ?? {};
  return defined({ refusal, image, stuckAt, attempts: attemptsOf(wipe) + 1, requestedAt: timeFor(release, now) });
};

/** Not before the time of the release, whoever's clock that was from: it would count as another release's. */
const timeFor = ({ requestedAt }: Release, now: number): string =>
  // Whole seconds are cut off: the very second of the release must not come out as earlier than it.
  Date.parse(timestamp(now)) < Date.parse(requestedAt) ? requestedAt : timestamp(now);

const maxTextLength = 1024;

/** Scaleway said no to the reinstall. */
export const refusedWipe = (wipe: Wipe, message: string, now: number): Wipe => ({
  ...wipe,
  refusedAt: timestamp(now),
  refusal: message.slice(0, maxTextLength),
});

/** Scaleway did not take the name that the way back needs. Counts as an attempt: without the name nothing is wiped, or free. */
export const refusedName = ({ status, now, limits }: Snapshot, release: Release, message: string): MacHostStatus => {
  const before = wipeOf(release, status);
  const attempt = before ?? { requestedAt: timeFor(release, now) };
  const quarantine = quarantineFor(release, before, status, now, limits);
  return {
    ...status,
    wipe: refusedWipe({ ...attempt, attempts: attemptsOf(before) + 1 }, message, now),
    ...(quarantine && { quarantine }),
  };
};

/** How long Scaleway is not asked again after the last attempt. From what is written down alone, so that a restart changes nothing. */
export const retryInMs = (wipe: Wipe, now: number, limits: Limits): number => {
  if (attemptsOf(wipe) === 0) return 0;
  const baseMs = wipe.reinstallingAt === undefined ? limits.reinstallStartMs : limits.retryMs;
  const maxMs = limits.longestRetryMs;
  const pauseMs = wipe.stuckAt === undefined ? backoffMs({ baseMs, maxMs }, attemptsOf(wipe)) : maxMs;
  const leftMs = Date.parse(wipe.refusedAt ?? wipe.requestedAt ?? '') + pauseMs - now;
  // A time that is none (NaN) is over; one that a clock ahead of ours has written is no reason to wait any longer.
  return leftMs > 0 ? Math.min(leftMs, pauseMs) : 0;
};

/** What a release says of the Mac itself. Undefined: it has done nothing wrong. */
export const faultOf = ({ reason, message }: Release): string | undefined =>
  reason === 'BootstrapExhausted' || reason === 'NotWiped' ? message || releaseReasonMeanings[reason] : undefined;

/** The quarantine that the reason of a release brings with it: written once, with the first attempt. */
export const quarantineFor = (
  release: Release,
  wipe: Wipe | undefined,
  status: MacHostStatus,
  now: number,
  limits: Limits,
): Quarantine | undefined => {
  const reason = attemptsOf(wipe) === 0 ? faultOf(release) : undefined;
  if (reason === undefined) return undefined;
  const cause = release.reason === 'NotWiped' ? 'NotWiped' : 'BootstrapsFailed';
  return nextQuarantine(status.quarantine, { reason, cause }, now, limits);
};

const nextQuarantine = (
  before: Quarantine | undefined,
  fault: Pick<Quarantine, 'cause' | 'reason'>,
  now: number,
  { quarantineMs, longestQuarantineMs }: Limits,
): Quarantine => {
  const count = (before?.count ?? 0) + 1;
  return { ...fault, count, until: timestamp(now + Math.min(quarantineMs * count, longestQuarantineMs)) };
};

/**
 * The Mac cannot be wiped. One whose reinstalls fail is to blame, and stays in quarantine when one has worked at last. One that Scaleway
 * refused, or did not answer for, has done nothing wrong: it is free as soon as it was wiped, and an outage costs no Mac a day.
 */
export const stuckWipe = (
  { status, now, limits }: Snapshot,
  release: Release,
  doing: string,
): { wipe: Wipe; quarantine: Quarantine | undefined } => {
  const before = wipeOf(release, status) ?? { attempts: 0, requestedAt: timeFor(release, now) };
  const wipe = { ...before, stuckAt: timestamp(now) };
  const isRunning = status.quarantine !== undefined && !(Date.parse(status.quarantine.until) <= now);
  if (isRunning) return { wipe, quarantine: undefined };
  const fault = { reason: stuckReason(wipe, doing), cause: 'WipeFailed' } as const;
  if (doing === 'error' && before.reinstallingAt !== undefined)
    return { wipe, quarantine: nextQuarantine(status.quarantine, fault, now, limits) };
  return { wipe, quarantine: { ...fault, count: status.quarantine?.count ?? 0, until: timestamp(now) } };
};

const stuckReason = (wipe: Wipe, doing: string): string => {
  const tried = `Scaleway was asked ${attemptsOf(wipe)} times to reinstall it and did not get it done; it is ${doing}.`;
  return `${tried}${wipe.refusal === undefined ? '' : ` ${wipe.refusal}`}`.slice(0, maxTextLength);
};

/** For people: what became of it, and what can be done. */
export const stuckMessage = (wipe: Wipe, doing: string): string =>
  `${stuckReason(wipe, doing)} It is tried again every two hours, and free once it was wiped. Ask Scaleway's support to look at the server; to have it left alone, set the annotation ${annotations.abandon} on this MacHost.`;

const maxRetiredKeys = 64;

/** With the key of the install that is given back. */
export const retiredKeysWith = ({ retiredHostKeys }: MacHostStatus, { hostKey }: Release): readonly string[] => {
  const keys = new Set(retiredHostKeys);
  if (hostKey) keys.add(hostKey);
  return [...keys].slice(-maxRetiredKeys);
};

/** The Mac is seen ready after it was seen reinstalling. The key it had is never its own again. */
export const afterWipe = (release: Release, status: MacHostStatus, wipe: Wipe, now: number): MacHostStatus => {
  const keys = retiredKeysWith(status, release);
  const { quarantine } = status;
  const { requestedAt, reinstallingAt } = wipe;
  return defined({
    ...status,
    // One that never failed was written only because it could not be wiped.
    quarantine: quarantine && quarantine.count > 0 ? quarantine : undefined,
    wipe: defined({ requestedAt, reinstallingAt, readyAt: timestamp(now) }),
    installs: (status.installs ?? 0) + 1,
    retiredHostKeys: keys.length > 0 ? keys : undefined,
  });
};
