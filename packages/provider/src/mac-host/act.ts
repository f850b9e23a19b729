import { buildEvent, formatProviderID, macHost } from '@tartan/api';
import {
  deleteIfUnchanged,
  done,
  ignoreNotFound,
  ignoreStale,
  nodes,
  patchIfUnchanged,
  type ReconcileResult,
  requeueAfter,
} from '@tartan/kube';
import { timestamp } from '@tartan/kube/clock';
import { newestImage, ScalewayError } from '@tartan/scaleway';
import { releaseHost } from '../claim/claim-host.ts';
import { maxImagesAgeMs, requestWipe } from './act-wipe.ts';
import type { Decision } from './decide.ts';
import { type ActDeps, callDeadline, callGuarded, type ReconcileContext, writeStatus } from './guard.ts';
import { readServer } from './observe.ts';
import { isOutcomeUnknown } from './refusal-backoff.ts';
import { isPoolName } from './server-name.ts';
import {
  noImageEvent,
  otherOSWantedEvent,
  renamedEvent,
  returnedToPoolEvent,
  takenByOthersEvent,
  wipeStuckEvent,
} from './status.ts';
import { afterWipe, retiredKeysWith, wipeOf } from './wipe.ts';

/** A decision on complete information. */
type ActDecision = Exclude<Decision, { kind: 'read server' | 'read holder' }>;

/**
 * Executes a decision. Writes and renames trigger the next pass as soon as the caches show them; the requeue is a fallback. Does nothing if
 * this process is no longer the leader. Rejects with ScalewayError for what Scaleway refuses.
 */
export const act = async (
  deps: ActDeps,
  context: ReconcileContext,
  decision: ActDecision,
): Promise<ReconcileResult> => {
  const { client } = deps;
  const { host, snapshot, signal } = context;
  const { spec, status, now } = snapshot;
  deps.gate.pass();
  switch (decision.kind) {
    case 'delete':
      deps.log.info('Forgets a Mac that Scaleway does not know any more', { server: snapshot.id, zone: spec.zone });
      await deleteIfUnchanged(client, macHost.resource, host, { signal });
      return done;
    case 'give up':
      return giveUpHost(deps, context, decision.name);
    case 'record name':
      await writeStatus(deps, context, { ...status, claim: decision.claim });
      return requeueAfter(snapshot.limits.pollMs);
    case 'rename':
      return rename(deps, context, decision);
    case 'request wipe':
      return requestWipe(deps, context, decision);
    case 'record wipe start':
      await writeStatus(deps, context, { ...status, wipe: { ...status.wipe, reinstallingAt: timestamp(now) } });
      return requeueAfter(snapshot.limits.pollMs);
    case 'record wipe end': {
      const wipe = spec.release && wipeOf(spec.release, status);
      await deleteNodes(deps, context);
      if (spec.release && wipe) await writeStatus(deps, context, afterWipe(spec.release, status, wipe, now));
      return requeueAfter(snapshot.limits.pollMs);
    }
    case 'quarantine': {
      const { wipe, quarantine } = decision;
      const written = await writeStatus(deps, context, { ...status, wipe, ...(quarantine && { quarantine }) });
      deps.events.event(written, wipeStuckEvent(wipe, status.serverStatus));
      return requeueAfter(snapshot.limits.pollMs);
    }
    case 'return to pool':
      return returnToPool(deps, context);
    case 'reinstall':
      return reinstall(deps, context, decision);
    case 'cordon':
      return cordon(deps, context, decision.nodes);
    case 'reboot':
      return reboot(deps, context);
    case 'report':
      await writeStatus(deps, context);
      return decision.againMs === undefined ? done : requeueAfter(decision.againMs);
  }
};

/** The same pass read the server before this. It is read again afterwards, since the last rename wins and may be another client's. */
const rename = async (
  deps: ActDeps,
  context: ReconcileContext,
  { to, why }: Extract<ActDecision, { kind: 'rename' }>,
): Promise<ReconcileResult> => {
  const { host, snapshot, signal } = context;
  const { id, spec, server, poolPrefixes, limits } = snapshot;
  const from = server.kind === 'seen' ? server.server.name : '';
  // Names seen before this rename do not tell whether it wins.
  const { claim, ...forgotten } = snapshot.status;
  if (claim !== undefined) await writeStatus(deps, context, forgotten);
  const call = (options: { signal: AbortSignal }) => deps.pool.rename(spec.zone, id, to, options);
  const made = await callGuarded(deps, host, signal, call, callDeadline(snapshot));
  if (made !== 'called') return requeueAfter(limits.pollMs);
  const after = await readServer(deps, spec.zone, id, { signal });
  if (after.kind === 'seen' && after.server.name !== to) throw renamedByOthers(to, after.server.name);
  deps.log.info('Renamed a Mac', { server: id, from, to, why });
  const wasInPool = [...poolPrefixes].some((prefix) => isPoolName(from, prefix));
  if (why === 'held') deps.events.event(host, renamedEvent(from, to, wasInPool));
  return requeueAfter(0);
};

const renamedByOthers = (wanted: string, found: string): ScalewayError =>
  new ScalewayError(
    `Scaleway took the name ${wanted} and shows ${found} right after. Find out who else renames this server, and stop them.`,
    { kind: 'garbled' },
  );

/** Clears the holder and the release in one guarded write. The machine then claims another host; the sweep reports this one. */
const giveUpHost = async (deps: ActDeps, context: ReconcileContext, serverName: string): Promise<ReconcileResult> => {
  const { client, events, log } = deps;
  const { snapshot, signal } = context;
  const { id, spec, status } = snapshot;
  // If the host returns to the pool as it is, this key shows that it is not wiped.
  const host = spec.release?.hostKey
    ? await writeStatus(deps, context, { ...status, retiredHostKeys: retiredKeysWith(status, spec.release) })
    : context.host;
  const change = { spec: { consumerRef: null, reboot: null, release: null } };
  const written = await patchIfUnchanged(client, macHost.resource, host, change, { signal });
  log.warn('Let go of a Mac that somebody else has renamed', { server: id, name: serverName });
  events.event(written, takenByOthersEvent(serverName, spec));
  return requeueAfter(snapshot.limits.pollMs);
};

/** The next pass writes the state `pool`, which allows claims: last of all. */
const returnToPool = async (
  { client, events, log }: ActDeps,
  { host, snapshot, signal }: ReconcileContext,
): Promise<ReconcileResult> => {
  const { spec, server, id } = snapshot;
  // The prefix is recorded: otherwise the pool of a deleted fleet would not be known as a pool.
  const change = { spec: { release: null, ...(spec.release && { poolPrefix: spec.release.poolPrefix }) } };
  const written = await patchIfUnchanged(client, macHost.resource, host, change, { signal });
  const poolName = server.kind === 'seen' ? server.server.name : '';
  log.info('A Mac was wiped and is back in its pool', { server: id, name: poolName });
  events.event(written, returnedToPoolEvent(poolName));
  return requeueAfter(snapshot.limits.pollMs);
};

/**
 * Releases a free Mac, to reinstall it with another macOS. One guarded write: it either excludes a concurrent claim or fails. If Scaleway
 * has no image of the family, nothing is wiped, and the attempt is recorded.
 */
const reinstall = async (
  deps: ActDeps,
  context: ReconcileContext,
  { family, poolPrefix }: Extract<Decision, { kind: 'reinstall' }>,
): Promise<ReconcileResult> => {
  const { client, pool, events, log, gate } = deps;
  const { host, snapshot, signal } = context;
  const { id, spec, status, server, now, limits } = snapshot;
  const { type, name: serverName } = server.kind === 'seen' ? server.server : { type: '', name: '' };
  if (newestImage(await pool.listImages(spec.zone, type, { signal, maxAgeMs: maxImagesAgeMs }), family) === undefined) {
    const written = await writeStatus(deps, context, { ...status, osRequested: { family, at: timestamp(now) } });
    events.event(written, noImageEvent(family, type));
    return requeueAfter(limits.reportMs);
  }
  const message = `A machine waits for ${family}, and no Mac that has it is free.`;
  const requestedAt = timestamp(now);
  gate.pass();
  const written = await releaseHost(
    client,
    host,
    { poolPrefix, family, reason: 'OtherOSWanted', message, serverName, requestedAt },
    { signal },
  );
  log.info('Reinstalls a free Mac with another macOS', { server: id, from: status.osFamily, family });
  events.event(written, otherOSWantedEvent(status.osFamily, family));
  return requeueAfter(limits.pollMs);
};

/** Restarts it once: the request is recorded first, and reverted only if Scaleway refuses. */
const reboot = async (deps: ActDeps, context: ReconcileContext): Promise<ReconcileResult> => {
  const { pool, events, log } = deps;
  const { snapshot, signal } = context;
  const { id, spec, status, now, limits } = snapshot;
  const issued = { ...status, rebootIssuedAt: notBefore(spec.reboot?.requestedAt, now) };
  const host = await writeStatus(deps, context, issued);
  try {
    const made = await callGuarded(
      deps,
      host,
      signal,
      (options) => pool.reboot(spec.zone, id, options),
      callDeadline(snapshot),
    );
    if (made === 'paused')
      await writeStatus(deps, { ...context, host, snapshot: { ...snapshot, status: issued } }, status);
    if (made !== 'called') return requeueAfter(limits.pollMs);
    log.info('Asked Scaleway to restart a Mac', { server: id });
  } catch (error) {
    if (!(error instanceof ScalewayError)) throw error;
    const isRebooting = error.kind === 'transient state' && error.state === 'rebooting';
    if (!isRebooting && !isOutcomeUnknown(error)) {
      await writeStatus(deps, { ...context, host, snapshot: { ...snapshot, status: issued } }, status);
      events.event(host, buildEvent('RebootForRecoveryFailed', error.message));
      throw error;
    }
  }
  await readServer(deps, spec.zone, id, { signal });
  return requeueAfter(0);
};

/**
 * The requester's clock may be ahead, and timestamps are truncated to seconds: a time before the request would cause another reboot for
 * ever.
 */
const notBefore = (requestedAt: string | undefined, now: number): string =>
  requestedAt !== undefined && Date.parse(requestedAt) > Date.parse(timestamp(now)) ? requestedAt : timestamp(now);

/**
 * Keeps Pods off Nodes whose Mac has no machine. Does not delete the Node: the agent would register it again, schedulable. It is deleted
 * when the Mac is wiped (`deleteNodes`), or when its certificate is not renewed.
 */
const cordon = async (
  { client, gate, log }: ActDeps,
  { snapshot: { id, limits }, signal }: ReconcileContext,
  names: readonly string[],
): Promise<ReconcileResult> => {
  for (const name of names) {
    gate.pass();
    log.info('Cordons the Node of a Mac that has no machine', { node: name, server: id });
    const body = { spec: { unschedulable: true } };
    await ignoreNotFound(client.patch(nodes, { name }, { type: 'merge', body }, { signal }));
  }
  return requeueAfter(limits.pollMs);
};

/**
 * Deletes the Nodes of a wiped Mac. Usually they are deleted with the machine; but an agent that runs until the wipe registers its Node
 * again, and a stranded Mac has no machine. After the wipe there is no agent to do so.
 */
const deleteNodes = async (
  { client, gate, log }: ActDeps,
  { host, snapshot: { id, spec }, signal }: ReconcileContext,
): Promise<void> => {
  const providerID = formatProviderID({ zone: spec.zone, serverID: id });
  const { items } = await client.list(nodes, { signal });
  for (const { metadata, spec: node } of items) {
    if (node?.providerID !== providerID) continue;
    const { name, uid } = metadata;
    gate.pass();
    log.info('Deletes the Node of a Mac that was wiped', { node: name, server: host.metadata.name });
    await ignoreStale(client.delete(nodes, { name }, { preconditions: { uid }, signal }));
  }
};
