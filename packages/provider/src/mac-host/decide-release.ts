import type { Decision } from './decide.ts';
import { isPoolName, promisedPoolName, releasingName } from './server-name.ts';
import type { Release, SeenServer, Snapshot, Wipe } from './snapshot.ts';
import { attemptsOf, nextWipe, quarantineFor, retryInMs, stuckWipe, wipeOf } from './wipe.ts';

/**
 * The way back: releasing name → reinstall asked for → seen reinstalling → seen ready → pool name → no more release. In doubt it is
 * wiped again, which is harmless before the pool name. Whatever is concluded is concluded from a fresh look.
 *
 * What Scaleway refuses or does not do is counted in `status.wipe`, asked for again after 2, 4, 8, … minutes, and after
 * `wipesBeforeQuarantine` attempts and an hour every two hours, by a Mac that says `quarantined`. While it waits nobody asks Scaleway
 * for anything: the list of the zone tells when something changes.
 */
export const decideRelease = (snapshot: Snapshot, release: Release, seen: SeenServer): Decision => {
  const { status, suffix } = snapshot;
  const { name } = seen.server;
  const wipe = wipeOf(release, status);
  const promised = promisedPoolName(name, release.poolPrefix);
  if (!isOurs(release, name)) return seen.fresh ? { kind: 'give up', name } : { kind: 'read server' };
  if (wipe?.readyAt) {
    if (seen.fresh && isPoolName(name, release.poolPrefix)) return { kind: 'return to pool' };
    return renameTo(snapshot, release, seen, promised ?? `${release.poolPrefix}${suffix}`, 'wiped');
  }
  if (promised === undefined) {
    const doubtMs = unwipedGraceLeftMs(snapshot, release);
    if (doubtMs > 0) return { kind: 'report', againMs: doubtMs };
    return renameTo(snapshot, release, seen, releasingName(`${release.poolPrefix}${suffix}`), 'releasing');
  }
  return wipe?.reinstallingAt === undefined
    ? awaitWipeStart(snapshot, release, seen, wipe)
    : awaitWipeEnd(snapshot, release, seen, wipe);
};

/** Whoever gave it back said what it was called then. Another cluster's machine may have it by now, or a person. */
const isOurs = ({ serverName, poolPrefix }: Release, name: string): boolean =>
  serverName === undefined ||
  name === serverName ||
  isPoolName(name, poolPrefix) ||
  promisedPoolName(name, poolPrefix) !== undefined;

/** Marks of an earlier machine may be those of another cluster that holds the Mac: it has the time to put the name right. */
const unwipedGraceLeftMs = ({ now, limits }: Snapshot, { reason, requestedAt }: Release): number =>
  reason === 'NotWiped' ? Math.min(Date.parse(requestedAt) + limits.unwipedGraceMs - now, limits.unwipedGraceMs) : 0;

/** In these Scaleway begins nothing else. A reinstall that nobody asked for here is waited for: its image is anybody's guess. */
const busyStates: ReadonlySet<string> = new Set([
  'starting',
  'rebooting',
  'updating',
  'locking',
  'unlocking',
  'reinstalling',
  'busy',
]);

const renameTo = (
  snapshot: Snapshot,
  release: Release,
  seen: SeenServer,
  to: string,
  why: 'releasing' | 'wiped',
): Decision => {
  const wipe = wipeOf(release, snapshot.status);
  const isVerdict = isQuarantineDue(snapshot, release, wipe);
  const leftMs = wipe?.refusedAt === undefined ? 0 : retryInMs(wipe, snapshot.now, snapshot.limits);
  // The name may have become right by itself: somebody else has set it.
  const isListedRight = why === 'wiped' && isPoolName(seen.server.name, release.poolPrefix);
  if (leftMs > 0 && !isVerdict && !isListedRight) return wait(snapshot, leftMs);
  if (!seen.fresh) return { kind: 'read server' };
  return isVerdict && leftMs > 0 ? quarantine(snapshot, release, seen) : { kind: 'rename', to, why };
};

/** Not asked for yet; or asked for, and not seen to begin. The answer may have been lost, or the request, or this process was away. */
const awaitWipeStart = (snapshot: Snapshot, release: Release, seen: SeenServer, wipe: Wipe | undefined): Decision => {
  const { status } = seen.server;
  const attempts = attemptsOf(wipe);
  if (status === 'reinstalling' && attempts > 0)
    return seen.fresh ? { kind: 'record wipe start' } : { kind: 'read server' };
  const leftMs = wipe === undefined ? 0 : retryInMs(wipe, snapshot.now, snapshot.limits);
  const isRefused = wipe?.refusedAt !== undefined;
  if (leftMs > 0 && !(isRefused && isQuarantineDue(snapshot, release, wipe))) {
    // It is seen to begin soon, if at all. Later attempts, and refused ones, leave it to the list of the zone to tell.
    if (isRefused || attempts > 1) return wait(snapshot, leftMs);
    return seen.fresh
      ? wait(snapshot, snapshot.limits.pollMs)
      : readAtMostEvery(snapshot, seen, snapshot.limits.pollMs);
  }
  // A state such as `rebooting` is no wipe, whatever it was that Scaleway answered.
  if (busyStates.has(status)) return awaitBusyServer(snapshot, release, seen, Date.parse(release.requestedAt));
  if (!seen.fresh) return { kind: 'read server' };
  return wipeAgain(snapshot, release, seen, wipe);
};

const awaitWipeEnd = (snapshot: Snapshot, release: Release, seen: SeenServer, wipe: Wipe): Decision => {
  const { status } = seen.server;
  if (status === 'ready') return seen.fresh ? { kind: 'record wipe end' } : { kind: 'read server' };
  if (status !== 'error') return awaitBusyServer(snapshot, release, seen, Date.parse(wipe.reinstallingAt ?? ''));
  const leftMs = retryInMs(wipe, snapshot.now, snapshot.limits);
  if (leftMs > 0 && !isQuarantineDue(snapshot, release, wipe)) return wait(snapshot, leftMs);
  return seen.fresh ? wipeAgain(snapshot, release, seen, wipe) : { kind: 'read server' };
};

/** Scaleway is at work on it, `since` some time. That ends as a rule; a server that hangs is looked at seldom, and said to be stuck. */
const awaitBusyServer = (snapshot: Snapshot, release: Release, seen: SeenServer, since: number): Decision => {
  const { now, limits, status } = snapshot;
  const isLong = now - since >= limits.stuckMs;
  const isVerdict = isLong && wipeOf(release, status)?.stuckAt === undefined;
  if (isVerdict) return seen.fresh ? quarantine(snapshot, release, seen) : { kind: 'read server' };
  const everyMs = isLong ? limits.reportMs : limits.pollMs;
  return seen.fresh ? wait(snapshot, everyMs) : readAtMostEvery(snapshot, seen, everyMs);
};

/** Three attempts are no verdict on a Mac while Scaleway has a bad hour; nor is an hour in which nobody tried. */
const isQuarantineDue = ({ now, limits }: Snapshot, release: Release, wipe: Wipe | undefined): boolean =>
  wipe?.stuckAt === undefined &&
  attemptsOf(wipe) >= limits.wipesBeforeQuarantine &&
  now - Date.parse(release.requestedAt) >= limits.stuckMs;

const wipeAgain = (snapshot: Snapshot, release: Release, seen: SeenServer, wipe: Wipe | undefined): Decision => {
  const { status, now, limits } = snapshot;
  if (isQuarantineDue(snapshot, release, wipe)) return quarantine(snapshot, release, seen);
  return {
    kind: 'request wipe',
    wipe: nextWipe(release, wipe, now),
    quarantine: quarantineFor(release, wipe, status, now, limits),
  };
};

const quarantine = (snapshot: Snapshot, release: Release, { server }: SeenServer): Decision => ({
  kind: 'quarantine',
  ...stuckWipe(snapshot, release, server.status),
});

const wait = ({ limits }: Snapshot, forMs: number): Decision => ({
  kind: 'report',
  againMs: Math.min(forMs, limits.reportMs),
});

/** Nothing new was heard, and the last time was not long ago: no need to ask. */
const readAtMostEvery = ({ now }: Snapshot, { at }: SeenServer, everyMs: number): Decision => {
  const ageMs = now - at;
  return ageMs >= 0 && ageMs < everyMs ? { kind: 'report', againMs: everyMs - ageMs } : { kind: 'read server' };
};
