import type { Decision } from './decision.ts';
import { isPoolName, promisedPoolName, releasingName } from './server-name.ts';
import type { Release, Seen, Snapshot, Wipe } from './snapshot.ts';
import { attemptsOf, blameOf, nextQuarantine, nextWipe, pauseAfter, wipeOf } from './wipe.ts';

/**
 * The way back: releasing name → reinstall asked for → seen reinstalling → seen ready → pool name → no more release. In doubt it is
 * wiped again, which is harmless before the pool name (G-01). Whatever is concluded is concluded from a fresh look.
 */
export const decideRelease = (snapshot: Snapshot, release: Release, seen: Seen): Decision => {
  const { status, suffix } = snapshot;
  const { name } = seen.server;
  const wipe = wipeOf(release, status);
  const promised = promisedPoolName(name, release.poolPrefix);
  if (wipe?.readyAt) {
    if (!seen.fresh) return { kind: 'look' };
    if (isPoolName(name, release.poolPrefix)) return { kind: 'return to pool' };
    return { kind: 'rename', to: promised ?? `${release.poolPrefix}${suffix}`, why: 'wiped' };
  }
  if (promised === undefined) {
    if (!seen.fresh) return { kind: 'look' };
    return { kind: 'rename', to: releasingName(`${release.poolPrefix}${suffix}`), why: 'releasing' };
  }
  if (wipe === undefined) return decideFirstWipe(snapshot, release, seen);
  return wipe.reinstallingAt === undefined
    ? awaitBeginning(snapshot, release, seen, wipe)
    : awaitEnd(snapshot, release, seen, wipe);
};

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

const decideFirstWipe = (snapshot: Snapshot, release: Release, seen: Seen): Decision => {
  if (!seen.fresh) return lookOnceInAWhile(snapshot, seen, busyStates.has(seen.server.status));
  return busyStates.has(seen.server.status) ? poll(snapshot) : requestWipe(snapshot, release, undefined);
};

/** Asked for, and not seen to begin. The answer may have been lost, or the request, or this process was away for all of it. */
const awaitBeginning = (snapshot: Snapshot, release: Release, seen: Seen, wipe: Wipe): Decision => {
  const { now, limits } = snapshot;
  const { status } = seen.server;
  if (!seen.fresh) return lookOnceInAWhile(snapshot, seen, status !== 'reinstalling');
  if (status === 'reinstalling') return { kind: 'wipe begun' };
  const leftMs = Date.parse(wipe.requestedAt ?? '') + pauseAfter(attemptsOf(wipe), limits.acceptMs, limits) - now;
  // A state such as `rebooting` is no wipe, whatever it was that Scaleway answered (G-02).
  if (leftMs > 0 || busyStates.has(status)) return poll(snapshot);
  return wipeAgain(snapshot, release, wipe);
};

const awaitEnd = (snapshot: Snapshot, release: Release, seen: Seen, wipe: Wipe): Decision => {
  const { now, limits } = snapshot;
  const { status } = seen.server;
  if (!seen.fresh) return lookOnceInAWhile(snapshot, seen, status === 'reinstalling' || status === 'error');
  if (status === 'ready') return { kind: 'wipe done' };
  if (status !== 'error') return poll(snapshot);
  const leftMs = Date.parse(wipe.requestedAt ?? '') + pauseAfter(attemptsOf(wipe), limits.retryMs, limits) - now;
  if (leftMs > 0 && !isToBeQuarantined(snapshot, wipe))
    return { kind: 'report', againMs: Math.min(leftMs, limits.reportMs) };
  return wipeAgain(snapshot, release, wipe);
};

const isToBeQuarantined = ({ status, limits }: Snapshot, wipe: Wipe): boolean =>
  attemptsOf(wipe) >= limits.wipesBeforeQuarantine && status.state !== 'quarantined';

const wipeAgain = (snapshot: Snapshot, release: Release, wipe: Wipe): Decision => {
  const { status, now, limits } = snapshot;
  if (!isToBeQuarantined(snapshot, wipe)) return requestWipe(snapshot, release, wipe);
  const reason = `Scaleway was asked ${attemptsOf(wipe)} times to reinstall it and did not get it done. Ask its support to look at the server.`;
  return { kind: 'quarantine', quarantine: nextQuarantine(status.quarantine, reason, now, limits) };
};

const requestWipe = ({ status, now, limits }: Snapshot, release: Release, wipe: Wipe | undefined): Decision => {
  const blame = wipe === undefined ? blameOf(release) : undefined;
  return {
    kind: 'request wipe',
    wipe: nextWipe(release, wipe, now),
    quarantine: blame === undefined ? undefined : nextQuarantine(status.quarantine, blame, now, limits),
  };
};

const poll = ({ limits }: Snapshot): Decision => ({ kind: 'report', againMs: limits.pollMs });

/** Nothing new was heard, and the last time was not long ago: no need to ask. */
const lookOnceInAWhile = ({ now, limits }: Snapshot, { at }: Seen, isOldNews: boolean): Decision => {
  const ageMs = now - at;
  return isOldNews && ageMs >= 0 && ageMs < limits.pollMs
    ? { kind: 'report', againMs: limits.pollMs - ageMs }
    : { kind: 'look' };
};
