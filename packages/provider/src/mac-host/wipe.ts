import { annotations, type MacHostStatus, releaseReasonMeanings } from '@tartan/api';
import { backoffMs } from '@tartan/kube';
import { timestamp } from '@tartan/kube/clock';
import { omitUndefined } from '../omit-undefined.ts';
import type { Limits, Quarantine, Release, Snapshot, Wipe } from './snapshot.ts';

/** The records of a wipe. Each is written before its action, and is valid only for its release. */

type Recorded = Pick<Snapshot, 'status' | 'now' | 'limits'>;

/** The wipe that this release requested. One older than the release belongs to another release. */
export const wipeOf = (release: Release, { wipe }: MacHostStatus): Wipe | undefined => {
  const requestedAt = Date.parse(wipe?.requestedAt ?? '');
  return requestedAt >= Date.parse(release.requestedAt) ? wipe : undefined;
};

export const attemptsOf = (wipe: Wipe | undefined): number => (wipe === undefined ? 0 : (wipe.attempts ?? 1));

/** The refusal and `stuckAt` are kept until a wipe is seen to start or to end. */
export const nextWipe = (release: Release, wipe: Wipe | undefined, now: number): Wipe => {
  const { refusal, image, stuckAt } = wipe ?? {};
  return omitUndefined({ refusal, image, stuckAt, attempts: attemptsOf(wipe) + 1, requestedAt: timeFor(release, now) });
};

/** Not before the time of the release, even if another clock set that: it would count as another release's. */
const timeFor = ({ requestedAt }: Release, now: number): string =>
  // Timestamps are truncated to seconds: a wipe in the second of the release must not count as earlier.
  Date.parse(timestamp(now)) < Date.parse(requestedAt) ? requestedAt : timestamp(now);

const maxTextLength = 1024;

/** Scaleway refused the reinstall. */
export const refusedWipe = (wipe: Wipe, message: string, now: number): Wipe => ({
  ...wipe,
  refusedAt: timestamp(now),
  refusal: message.slice(0, maxTextLength),
});

/** Scaleway refused the name that the release needs. Counts as an attempt: without the name the Mac is neither wiped nor freed. */
export const refusedName = ({ status, now, limits }: Recorded, release: Release, message: string): MacHostStatus => {
  const before = wipeOf(release, status);
  const attempt = before ?? { requestedAt: timeFor(release, now) };
  const quarantine = quarantineFor(release, before, status, now, limits);
  return {
    ...status,
    wipe: refusedWipe({ ...attempt, attempts: attemptsOf(before) + 1 }, message, now),
    ...(quarantine && { quarantine }),
  };
};

/** How long to wait after the last attempt. Depends only on the status, so that a restart changes nothing. */
export const retryInMs = (wipe: Wipe, now: number, limits: Limits): number => {
  if (attemptsOf(wipe) === 0) return 0;
  const baseMs = wipe.reinstallingAt === undefined ? limits.reinstallStartMs : limits.retryMs;
  const maxMs = limits.longestRetryMs;
  const pauseMs = wipe.stuckAt === undefined ? backoffMs({ baseMs, maxMs }, attemptsOf(wipe)) : maxMs;
  const leftMs = Date.parse(wipe.refusedAt ?? wipe.requestedAt ?? '') + pauseMs - now;
  // An invalid time (NaN) is over; a time from a clock ahead of ours must not extend the wait.
  return leftMs > 0 ? Math.min(leftMs, pauseMs) : 0;
};

/** The fault of the Mac that caused the release. Undefined: none. */
export const faultOf = ({ reason, message }: Release): string | undefined =>
  reason === 'BootstrapExhausted' || reason === 'NotWiped' ? message || releaseReasonMeanings[reason] : undefined;

/** A quarantine with an invalid end (NaN) never ends. */
export const isQuarantined = ({ quarantine }: MacHostStatus, now: number): boolean =>
  quarantine !== undefined && !(Date.parse(quarantine.until) <= now);

/** The quarantine for the reason of a release: set once, with the first attempt. */
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
 * Records that the Mac cannot be wiped. If its reinstalls fail, the Mac is at fault and stays quarantined even after one succeeds. If
 * Scaleway refused or did not answer, it is not: the Mac is free as soon as it is wiped, and an outage does not cost it a day.
 */
export const stuckWipe = (
  { status, now, limits }: Recorded,
  release: Release,
  doing: string,
): { wipe: Wipe; quarantine: Quarantine | undefined } => {
  const before = wipeOf(release, status) ?? { attempts: 0, requestedAt: timeFor(release, now) };
  const wipe = { ...before, stuckAt: timestamp(now) };
  if (isQuarantined(status, now)) return { wipe, quarantine: undefined };
  const fault = { reason: stuckReason(wipe, doing), cause: 'WipeFailed' } as const;
  if (doing === 'error' && before.reinstallingAt !== undefined)
    return { wipe, quarantine: nextQuarantine(status.quarantine, fault, now, limits) };
  return { wipe, quarantine: { ...fault, count: status.quarantine?.count ?? 0, until: timestamp(now) } };
};

const stuckReason = (wipe: Wipe, doing: string): string => {
  const tried = `Scaleway was asked ${attemptsOf(wipe)} times to reinstall it and did not get it done; it is ${doing}.`;
  return `${tried}${wipe.refusal === undefined ? '' : ` ${wipe.refusal}`}`.slice(0, maxTextLength);
};

/** For users: what happened, and what to do. */
export const stuckMessage = (wipe: Wipe, doing: string): string =>
  `${stuckReason(wipe, doing)} It is tried again every two hours, and free once it was wiped. Ask Scaleway's support to look at the server; to have it left alone, set the annotation ${annotations.abandon} on this MacHost.`;

const maxRetiredKeys = 64;

/** Including the key of the released install. */
export const retiredKeysWith = ({ retiredHostKeys }: MacHostStatus, { hostKey }: Release): readonly string[] => {
  const keys = new Set(retiredHostKeys);
  if (hostKey) keys.add(hostKey);
  return [...keys].slice(-maxRetiredKeys);
};

/** The Mac was seen ready after it was seen reinstalling. Its earlier host key is never valid again. */
export const afterWipe = (release: Release, status: MacHostStatus, wipe: Wipe, now: number): MacHostStatus => {
  const keys = retiredKeysWith(status, release);
  const { quarantine } = status;
  const { requestedAt, reinstallingAt } = wipe;
  return omitUndefined({
    ...status,
    // A count of 0: quarantined only because it could not be wiped.
    quarantine: quarantine && quarantine.count > 0 ? quarantine : undefined,
    wipe: omitUndefined({ requestedAt, reinstallingAt, readyAt: timestamp(now) }),
    installs: (status.installs ?? 0) + 1,
    retiredHostKeys: keys.length > 0 ? keys : undefined,
  });
};
