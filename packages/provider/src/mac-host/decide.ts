import { timestamp } from '@tartan/kube/clock';
import { decideRelease } from './decide-release.ts';
import { isPoolName } from './server-name.ts';
import {
  type Claim,
  isClaimConfirmed,
  isWipeStuck,
  type Quarantine,
  quarantineLeftMs,
  type SeenServer,
  type Snapshot,
  stateOf,
  type Wipe,
} from './snapshot.ts';

/** What may be done about one Mac. */
export type Decision =
  /** Ask Scaleway for this very server, and decide again. */
  | { readonly kind: 'read server' }
  /** Ask the API server for the machine of `spec.consumerRef`, and decide again. */
  | { readonly kind: 'read holder' }
  /** The server is gone and nobody counts on it: delete the MacHost. */
  | { readonly kind: 'delete' }
  /** Its name says that somebody else has it: end the claim or the release, and do nothing to the server. */
  | { readonly kind: 'give up'; readonly name: string }
  /** It bears its holder's name: remember since when, or that nobody has renamed it since. */
  | { readonly kind: 'record name'; readonly claim: Claim }
  | { readonly kind: 'rename'; readonly to: string; readonly why: 'held' | 'releasing' | 'wiped' }
  /** Remember the attempt, and why nobody shall claim the Mac afterwards; then ask for the reinstall. */
  | { readonly kind: 'request wipe'; readonly wipe: Wipe; readonly quarantine: Quarantine | undefined }
  /** Scaleway is seen reinstalling: remember it. */
  | { readonly kind: 'record wipe start' }
  /** It is seen ready after that: remember it, and retire the host key. */
  | { readonly kind: 'record wipe end' }
  /** It cannot be wiped: say so. It is tried all the same, seldom. Without a quarantine of its own it has one already. */
  | { readonly kind: 'quarantine'; readonly wipe: Wipe; readonly quarantine: Quarantine | undefined }
  /** Wiped, and it bears the pool name: the release is over. */
  | { readonly kind: 'return to pool' }
  /** It is free, and a machine waits for another macOS: give it a release, so that it is wiped. */
  | { readonly kind: 'reinstall'; readonly family: string; readonly poolPrefix: string }
  /** Its agent may live on without a machine: keep Pods off these Nodes. */
  | { readonly kind: 'cordon'; readonly nodes: readonly string[] }
  /** Remember that it was asked for, then ask. */
  | { readonly kind: 'reboot' }
  /** Nothing but to say what is. Undefined: until something changes. */
  | { readonly kind: 'report'; readonly againMs: number | undefined };

/**
 * What to do about one Mac now. At most one thing is done to its server in a pass; the next pass looks again. While it is paused nothing
 * is; what Scaleway was asked for before that is seen and remembered.
 */
export const decide = (snapshot: Snapshot): Decision => {
  const decision = decideUnpaused(snapshot);
  if (snapshot.pauses.length === 0 || allowedWhilePaused.has(decision.kind)) return decision;
  return { kind: 'report', againMs: snapshot.limits.reportMs };
};

const allowedWhilePaused: ReadonlySet<Decision['kind']> = new Set([
  'read server',
  'read holder',
  'record wipe start',
  'record wipe end',
  'report',
]);

const decideUnpaused = (snapshot: Snapshot): Decision => {
  const { spec, server, limits } = snapshot;
  const leftBehind = decideOrphanedNodes(snapshot);
  if (leftBehind !== undefined) return leftBehind;
  if (snapshot.abandoned !== undefined) return decideAbandoned(snapshot);
  switch (server.kind) {
    case 'unknown':
      // What has to be done can be done without the list of the zone.
      return hasWork(snapshot) ? { kind: 'read server' } : { kind: 'report', againMs: limits.pollMs };
    case 'missing':
      return server.fresh ? decideMissing(snapshot) : { kind: 'read server' };
    case 'seen':
      if (spec.release) return decideRelease(snapshot, spec.release, server);
      if (spec.consumerRef) return decideHeld(snapshot, spec.consumerRef, server);
      return decideFree(snapshot, server);
  }
};

/** A Mac that is not wiped has an agent, which brings its Node back when its machine is gone. Nobody would look after Pods there. */
const decideOrphanedNodes = (snapshot: Snapshot): Decision | undefined => {
  const { abandoned, holder, schedulableNodes: nodes } = snapshot;
  if (nodes.length === 0) return undefined;
  if (abandoned === undefined) return isWipeStuck(snapshot) ? { kind: 'cordon', nodes } : undefined;
  switch (holder.kind) {
    case 'unseen':
      return { kind: 'read holder' };
    case 'alive':
    case 'unknown':
      return undefined;
    case 'none':
    case 'gone':
    case 'elsewhere':
      return { kind: 'cordon', nodes };
  }
};

/** Nothing at all, whatever its spec says. Only the object of a server that is gone for sure goes. */
const decideAbandoned = (snapshot: Snapshot): Decision => {
  const { server } = snapshot;
  if (server.kind !== 'missing') return { kind: 'report', againMs: undefined };
  return server.fresh ? decideMissing(snapshot) : { kind: 'read server' };
};

const hasWork = (snapshot: Snapshot): boolean => {
  const { spec, status } = snapshot;
  if (spec.release) return true;
  if (spec.consumerRef === undefined) return false;
  return status.name !== spec.consumerRef.name || !isClaimConfirmed(snapshot) || isRebootDue(snapshot);
};

/** A MacHost whose server is gone for sure goes too, unless somebody counts on it: who holds it has to learn what became of it. */
const decideMissing = ({ spec, holder, limits }: Snapshot): Decision => {
  if (!spec.consumerRef || holder.kind === 'gone' || holder.kind === 'elsewhere') return { kind: 'delete' };
  return holder.kind === 'unseen' ? { kind: 'read holder' } : { kind: 'report', againMs: limits.reportMs };
};

/**
 * The name that it shall have is its holder's.
 *
 *   | holder            | name at Scaleway       | then                                                                |
 *   |-------------------|------------------------|---------------------------------------------------------------------|
 *   | not yet made ready | of the pool           | rename                                                              |
 *   | not yet made ready | its own               | wait until no other cluster can rename it any more, then read again |
 *   | not yet made ready | any other             | give up: another cluster or a person has taken it out of the pool   |
 *   | made ready         | any other             | rename: somebody renamed a Mac at work                              |
 */
const decideHeld = (
  snapshot: Snapshot,
  { name }: NonNullable<Snapshot['spec']['consumerRef']>,
  { server, fresh }: SeenServer,
): Decision => {
  const { spec, holder, limits } = snapshot;
  switch (holder.kind) {
    case 'none':
    case 'unseen':
      return { kind: 'read holder' };
    case 'gone':
    case 'elsewhere':
      // Never released here: that is the sweep's, which asks once more before it does anything.
      return { kind: 'report', againMs: limits.reportMs };
    case 'unknown':
      return { kind: 'report', againMs: undefined };
    case 'alive':
      break;
  }
  if (server.name !== name) {
    if (!fresh) return { kind: 'read server' };
    if (!holder.provisioned && !isPoolName(server.name, spec.poolPrefix ?? ''))
      return holder.fresh ? { kind: 'give up', name: server.name } : { kind: 'read holder' };
    // It may have changed since it was chosen.
    if (server.status !== 'ready' || server.type !== holder.type) return { kind: 'report', againMs: limits.pollMs };
    return { kind: 'rename', to: name, why: 'held' };
  }
  if (!isClaimConfirmed(snapshot)) return confirmClaim(snapshot, fresh);
  if (isRebootDue(snapshot)) return fresh ? { kind: 'reboot' } : { kind: 'read server' };
  return { kind: 'report', againMs: undefined };
};

const confirmClaim = ({ spec, status, now, limits }: Snapshot, fresh: boolean): Decision => {
  const { uid = '' } = spec.consumerRef ?? {};
  const namedAt = status.claim?.uid === uid ? status.claim.namedAt : undefined;
  if (namedAt === undefined) return { kind: 'record name', claim: { uid, namedAt: timestamp(now) } };
  // Whole seconds are cut off. A time ahead of the clock holds nobody up for longer than the wait itself.
  const leftMs = Math.min(Date.parse(namedAt) + 1000 + limits.claimConfirmMs - now, limits.claimConfirmMs + 1000);
  if (leftMs > 0) return { kind: 'report', againMs: leftMs };
  return fresh ? { kind: 'record name', claim: { uid, namedAt, settledAt: timestamp(now) } } : { kind: 'read server' };
};

const isRebootDue = ({ spec, status }: Snapshot): boolean =>
  spec.reboot !== undefined &&
  !(Date.parse(status.rebootIssuedAt ?? '') >= Date.parse(spec.reboot.requestedAt)) &&
  !Number.isNaN(Date.parse(spec.reboot.requestedAt));

const decideFree = (snapshot: Snapshot, seen: SeenServer): Decision => {
  const { status, now, limits } = snapshot;
  switch (stateOf(snapshot)) {
    case 'quarantined':
      return { kind: 'report', againMs: Math.max(0, Math.min(quarantineLeftMs(status, now), maxWaitMs)) };
    case 'stranded':
      return { kind: 'report', againMs: limits.reportMs };
    case 'pool':
      return decideInPool(snapshot, seen);
    case 'held':
    case 'releasing':
    case 'abandoned':
    case undefined:
      return { kind: 'report', againMs: undefined };
  }
};

/** Its disk is empty: to install another macOS harms nobody, and a machine waits for that. */
const decideInPool = ({ otherOS, poolPrefixes }: Snapshot, { server, fresh }: SeenServer): Decision => {
  if (otherOS === undefined) return { kind: 'report', againMs: undefined };
  const { family, inMs } = otherOS;
  const [poolPrefix] = [...poolPrefixes]
    .filter((prefix) => isPoolName(server.name, prefix))
    .toSorted((a, b) => b.length - a.length);
  if (family === undefined || inMs > 0 || poolPrefix === undefined) return { kind: 'report', againMs: inMs };
  if (!fresh) return { kind: 'read server' };
  return server.status === 'ready' ? { kind: 'reinstall', family, poolPrefix } : { kind: 'report', againMs: undefined };
};

/** Timers count to 2^31 ms; nothing is lost by a look in between. */
const maxWaitMs = 60 * 60_000;
