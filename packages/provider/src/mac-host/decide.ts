import { timestamp } from '@tartan/kube/clock';
import { decideRelease } from './decide-release.ts';
import { isPoolName } from './server-name.ts';
import {
  type Claim,
  isClaimConfirmed,
  isWipeStuck,
  type Quarantine,
  type SeenServer,
  type Snapshot,
  stateOf,
  type Wipe,
} from './snapshot.ts';

/** What to do about one Mac. */
export type Decision =
  /** Read this server from Scaleway, and decide again. */
  | { readonly kind: 'read server' }
  /** Read the machine of `spec.consumerRef` from the API server, and decide again. */
  | { readonly kind: 'read holder' }
  /** The server is gone and has no holder: delete the MacHost. */
  | { readonly kind: 'delete' }
  /** Its name shows that another cluster or a user has it: end the claim or the release, and do not touch the server. */
  | { readonly kind: 'give up'; readonly name: string }
  /** It has its holder's name: record since when, or that no other client has renamed it since. */
  | { readonly kind: 'record name'; readonly claim: Claim }
  | { readonly kind: 'rename'; readonly to: string; readonly why: 'held' | 'releasing' | 'wiped' }
  /** Record the attempt, and the quarantine that follows it; then request the reinstall. */
  | { readonly kind: 'request wipe'; readonly wipe: Wipe; readonly quarantine: Quarantine | undefined }
  /** Record that the server was seen reinstalling. */
  | { readonly kind: 'record wipe start' }
  /** Record that it was seen ready after that, and retire the host key. */
  | { readonly kind: 'record wipe end' }
  /** Report that it cannot be wiped. Retries go on, seldom. Undefined quarantine: it has one already. */
  | { readonly kind: 'quarantine'; readonly wipe: Wipe; readonly quarantine: Quarantine | undefined }
  /** Wiped, and it has a pool name: the release is over. */
  | { readonly kind: 'return to pool' }
  /** It is free, and a machine waits for another macOS: release it, so that it is wiped. */
  | { readonly kind: 'reinstall'; readonly family: string; readonly poolPrefix: string }
  /** Its agent may still run without a machine: keep Pods off these Nodes. */
  | { readonly kind: 'cordon'; readonly nodes: readonly string[] }
  /** Record the request, then make it. */
  | { readonly kind: 'reboot' }
  /** Only write the status. Undefined: no requeue. */
  | { readonly kind: 'report'; readonly againMs: number | undefined };

/**
 * What to do about one Mac now. A pass does at most one thing to its server; the next pass observes again. While paused, only the effects
 * of earlier requests are observed and recorded.
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
      // A live read does not need the list of the zone.
      return hasWork(snapshot) ? { kind: 'read server' } : { kind: 'report', againMs: limits.pollMs };
    case 'missing':
      return server.fresh ? decideMissing(snapshot) : { kind: 'read server' };
    case 'seen':
      if (spec.release) return decideRelease(snapshot, spec.release, server);
      if (spec.consumerRef) return decideHeld(snapshot, spec.consumerRef, server);
      return decideFree(snapshot, server);
  }
};

/**
 * A Mac that is not wiped has an agent, which registers its Node again after its machine is gone. No controller would manage Pods there.
 */
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

/** Does nothing, whatever the spec says. Only a MacHost whose server is gone for sure is deleted. */
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

/** Deletes a MacHost whose server is gone for sure, unless it has a holder, which has to see what happened. */
const decideMissing = ({ spec, holder, limits }: Snapshot): Decision => {
  if (!spec.consumerRef || holder.kind === 'gone' || holder.kind === 'elsewhere') return { kind: 'delete' };
  return holder.kind === 'unseen' ? { kind: 'read holder' } : { kind: 'report', againMs: limits.reportMs };
};

/**
 * The desired name is that of the holder.
 *
 *   | holder          | name at Scaleway | then                                                            |
 *   |-----------------|------------------|-----------------------------------------------------------------|
 *   | not provisioned | of the pool      | rename                                                          |
 *   | not provisioned | the desired one  | wait until no other cluster can rename it, then read again      |
 *   | not provisioned | any other        | give up: another cluster or a user has taken it out of the pool |
 *   | provisioned     | any other        | rename: a user or another cluster renamed a Mac in use          |
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
      // Not released here: the sweep does that, after another live read.
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
  // Timestamps are truncated to seconds. A time ahead of the clock must not extend the wait.
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
    case 'quarantined': {
      const leftMs = Date.parse(status.quarantine?.until ?? '') - now;
      return { kind: 'report', againMs: leftMs < maxWaitMs ? leftMs : maxWaitMs };
    }
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

/** Its disk is empty, so reinstalling it with the macOS that a machine waits for is harmless. */
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

/** Timers are limited to 2^31 ms; an earlier requeue does no harm. */
const maxWaitMs = 60 * 60_000;
