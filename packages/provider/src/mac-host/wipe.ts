import { releaseReasonMeanings } from '@tartan/api';
import type { MacHostStatus } from '@tartan/api';
import { timestamp } from '@tartan/kube/clock';
import type { Limits } from './limits.ts';
import type { Quarantine, Release, Wipe } from './snapshot.ts';

/** What is remembered of a wipe. All of it is written before what it remembers is done, and none is believed for another release. */

/** The wipe that this release has asked for. One that is older than the release was another's. */
export const wipeOf = (release: Release, { wipe }: MacHostStatus): Wipe | undefined => {
  const requestedAt = Date.parse(wipe?.requestedAt ?? '');
  return requestedAt >= Date.parse(release.requestedAt) ? wipe : undefined;
};

export const attemptsOf = (wipe: Wipe | undefined): number => (wipe === undefined ? 0 : (wipe.attempts ?? 1));

/** Not before the time of the release, whoever's clock that was from: it would count as another release's. */
export const nextWipe = (release: Release, wipe: Wipe | undefined, now: number): Wipe => ({
  attempts: attemptsOf(wipe) + 1,
  requestedAt: Date.parse(release.requestedAt) > now ? release.requestedAt : timestampAfter(release.requestedAt, now),
});

/** Whole seconds are cut off: the very second of the release must not come out as earlier than it. */
const timestampAfter = (earliest: string, now: number): string =>
  Date.parse(timestamp(now)) < Date.parse(earliest) ? earliest : timestamp(now);

/** 1, 2, 4, … times the first. */
export const pauseAfter = (attempts: number, firstMs: number, { longestRetryMs }: Limits): number =>
  Math.min(firstMs * 2 ** Math.max(0, attempts - 1), longestRetryMs);

/** What a release says of the Mac itself. Undefined: it has done nothing wrong. */
export const blameOf = ({ reason, message }: Release): string | undefined =>
  reason === 'BootstrapExhausted' || reason === 'NotWiped' ? message || releaseReasonMeanings[reason] : undefined;

export const nextQuarantine = (
  before: Quarantine | undefined,
  reason: string,
  now: number,
  { quarantineMs, longestQuarantineMs }: Limits,
): Quarantine => {
  const count = (before?.count ?? 0) + 1;
  return { count, reason, until: timestamp(now + Math.min(quarantineMs * count, longestQuarantineMs)) };
};

const mostRetiredKeys = 64;

/** The Mac is seen ready after it was seen reinstalling. The key it had is never its own again. */
export const afterWipe = (release: Release, status: MacHostStatus, wipe: Wipe, now: number): MacHostStatus => {
  const keys = new Set(status.retiredHostKeys);
  if (release.hostKey) keys.add(release.hostKey);
  return {
    ...status,
    wipe: { ...wipe, readyAt: timestamp(now) },
    installs: (status.installs ?? 0) + 1,
    ...(keys.size > 0 ? { retiredHostKeys: [...keys].slice(-mostRetiredKeys) } : {}),
  };
};
