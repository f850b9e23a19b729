import type { Decision } from './decide.ts';
import { isPoolName, promisedPoolName, releasingName } from './server-name.ts';
import type { Release, SeenServer, Snapshot, Wipe } from './snapshot.ts';
import { attemptsOf, nextWipe, quarantineFor, retryInMs, stuckWipe, wipeOf } from './wipe.ts';

/**
 * The release: releasing name → reinstall requested → seen reinstalling → seen ready → pool name → release removed. In doubt it is wiped
 * again, which is harmless before the pool name. Every conclusion requires a fresh read.
 * What Scaleway refuses or does not do is counted in `status.wipe` and requested again after 2, 4, 8, … minutes. After
 * `wipesBeforeQuarantine` attempts and an hour the state is `quarantined`, and the interval is two hours. Meanwhile there are no requests
 * to Scaleway: the list of the zone shows changes.
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
    const graceLeftMs = unwipedGraceLeftMs(snapshot, release);
    if (graceLeftMs > 0) return { kind: 'report', againMs: graceLeftMs };
    return renameTo(snapshot, release, seen, releasingName(`${release.poolPrefix}${suffix}`), 'releasing');
  }
  return wipe?.reinstallingAt === undefined
    ? awaitWipeStart(snapshot, release, seen, wipe)
    : awaitWipeEnd(snapshot, release, seen, wipe);
};

/** The release records the server's name at that time. By now a machine of another cluster, or a user, may have the server. */
const isOurs = ({ serverName, poolPrefix }: Release, name: string): boolean =>
  serverName === undefined ||
  name === serverName ||
  isPoolName(name, poolPrefix) ||
  promisedPoolName(name, poolPrefix) !== undefined;

/** The traces of an earlier machine may be of another cluster that holds the Mac: it gets time to restore the name. */
const unwipedGraceLeftMs = ({ now, limits }: Snapshot, { reason, requestedAt }: Release): number =>
  reason === 'NotWiped' ? Math.min(Date.parse(requestedAt) + limits.unwipedGraceMs - now, limits.unwipedGraceMs) : 0;

/** Scaleway starts nothing else in these states. Also waits for a reinstall that was not requested here: its image is unknown. */
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
  const quarantineDue = isQuarantineDue(snapshot, release, wipe);
  const leftMs = wipe?.refusedAt === undefined ? 0 : retryInMs(wipe, snapshot.now, snapshot.limits);
  // Another client may have set the right name meanwhile.
  const isListedRight = why === 'wiped' && isPoolName(seen.server.name, release.poolPrefix);
  if (leftMs > 0 && !quarantineDue && !isListedRight) return wait(snapshot, leftMs);
  if (!seen.fresh) return { kind: 'read server' };
  return quarantineDue && leftMs > 0 ? quarantine(snapshot, release, seen) : { kind: 'rename', to, why };
};

/** Not requested yet; or requested, but not seen to start: the response or the request was lost, or this process was down. */
const awaitWipeStart = (snapshot: Snapshot, release: Release, seen: SeenServer, wipe: Wipe | undefined): Decision => {
  const { status } = seen.server;
  const attempts = attemptsOf(wipe);
  if (status === 'reinstalling' && attempts > 0)
    return seen.fresh ? { kind: 'record wipe start' } : { kind: 'read server' };
  const leftMs = wipe === undefined ? 0 : retryInMs(wipe, snapshot.now, snapshot.limits);
  const isRefused = wipe?.refusedAt !== undefined;
  if (leftMs > 0 && !(isRefused && isQuarantineDue(snapshot, release, wipe))) {
    // If it starts, it is seen soon. For later and refused attempts the list of the zone suffices.
    if (isRefused || attempts > 1) return wait(snapshot, leftMs);
    return seen.fresh
      ? wait(snapshot, snapshot.limits.pollMs)
      : readAtMostEvery(snapshot, seen, snapshot.limits.pollMs);
  }
  // A state such as `rebooting` is no wipe, whatever Scaleway answered.
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

/** Scaleway has been working on it `since` then. Usually that ends; a server that hangs is polled seldom, and reported as stuck. */
const awaitBusyServer = (snapshot: Snapshot, release: Release, seen: SeenServer, since: number): Decision => {
  const { now, limits, status } = snapshot;
  const isLong = now - since >= limits.stuckMs;
  const quarantineDue = isLong && wipeOf(release, status)?.stuckAt === undefined;
  if (quarantineDue) return seen.fresh ? quarantine(snapshot, release, seen) : { kind: 'read server' };
  const everyMs = isLong ? limits.reportMs : limits.pollMs;
  return seen.fresh ? wait(snapshot, everyMs) : readAtMostEvery(snapshot, seen, everyMs);
};

/** Needs both attempts and time: three failures in an outage of Scaleway prove nothing about the Mac, nor does an hour without attempts. */
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

/** The last read is recent enough, so there is no need to ask Scaleway. */
const readAtMostEvery = ({ now }: Snapshot, { at }: SeenServer, everyMs: number): Decision => {
  const ageMs = now - at;
  return ageMs >= 0 && ageMs < everyMs ? { kind: 'report', againMs: everyMs - ageMs } : { kind: 'read server' };
};
