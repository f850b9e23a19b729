import { macHost } from '@tartan/api';
import { again, type Outcome, settled } from '@tartan/kube';
import { timestamp } from '@tartan/kube/clock';
import { ScalewayError } from '@tartan/scaleway';
import { cordon } from './act-cordon.ts';
import { reboot } from './act-reboot.ts';
import { reinstall } from './act-reinstall.ts';
import { requestWipe } from './act-wipe.ts';
import type { Decision } from './decision.ts';
import { forgetNodes } from './forget-nodes.ts';
import { guarded, lastMoment } from './guard.ts';
import { cannotBeWiped, renamedForHolder, returnedToPool, takenByOthers } from './happenings.ts';
import { look } from './observe.ts';
import { type Actor, type Pass, remember } from './pass.ts';
import { isPoolName } from './server-name.ts';
import { afterWipe, retired, wipeOf } from './wipe.ts';

/** What is left when everything that matters has been looked at. */
export type Act = Exclude<Decision, { kind: 'look' | 'find holder' }>;

/**
 * Carries it out. What was written or renamed wakes the next pass as soon as this process has seen it; the time to come back is for
 * when it does not. Who leads no more does nothing at all. Rejects with ScalewayError for what Scaleway refuses.
 */
export const act = async (actor: Actor, pass: Pass, decision: Act): Promise<Outcome> => {
  const { client } = actor;
  const { host, snapshot, signal } = pass;
  const { spec, status, now } = snapshot;
  actor.gate.pass();
  switch (decision.kind) {
    case 'forget': {
      const { name, uid, resourceVersion } = host.metadata;
      actor.log.info('Forgets a Mac that Scaleway does not know any more', { server: name, zone: spec.zone });
      await client.delete(macHost.resource, { name }, { preconditions: { uid, resourceVersion }, signal });
      return settled;
    }
    case 'let go':
      return letGo(actor, pass, decision.name);
    case 'note name':
      await remember(actor, pass, { ...status, claim: decision.claim });
      return again(snapshot.limits.pollMs);
    case 'rename':
      return rename(actor, pass, decision);
    case 'request wipe':
      return requestWipe(actor, pass, decision);
    case 'wipe begun':
      await remember(actor, pass, { ...status, wipe: { ...status.wipe, reinstallingAt: timestamp(now) } });
      return again(snapshot.limits.pollMs);
    case 'wipe done': {
      const wipe = spec.release && wipeOf(spec.release, status);
      await forgetNodes(actor, pass);
      if (spec.release && wipe) await remember(actor, pass, afterWipe(spec.release, status, wipe, now));
      return again(snapshot.limits.pollMs);
    }
    case 'quarantine': {
      const { wipe, quarantine } = decision;
      const written = await remember(actor, pass, { ...status, wipe, ...(quarantine && { quarantine }) });
      actor.events.event(written, cannotBeWiped(wipe, status.serverStatus));
      return again(snapshot.limits.pollMs);
    }
    case 'return to pool':
      return returnToPool(actor, pass);
    case 'reinstall':
      return reinstall(actor, pass, decision);
    case 'cordon':
      return cordon(actor, pass, decision.nodes);
    case 'reboot':
      return reboot(actor, pass);
    case 'report':
      await remember(actor, pass);
      return decision.againMs === undefined ? settled : again(decision.againMs);
  }
};

/** The pass that decided this has looked just before; it looks again after, since the last write wins and may be somebody else's. */
const rename = async (actor: Actor, pass: Pass, { to, why }: Extract<Act, { kind: 'rename' }>): Promise<Outcome> => {
  const { host, snapshot, signal } = pass;
  const { id, spec, server, poolPrefixes, limits } = snapshot;
  const from = server.kind === 'seen' ? server.server.name : '';
  // Whatever was seen of its name before this rename says nothing about who wins it.
  const { claim, ...forgotten } = snapshot.status;
  if (claim !== undefined) await remember(actor, pass, forgotten);
  const call = (options: { signal: AbortSignal }) => actor.pool.rename(spec.zone, id, to, options);
  const made = await guarded(actor, host, signal, call, lastMoment(snapshot));
  if (made !== 'called') return again(limits.pollMs);
  const after = await look(actor, spec.zone, id, { signal });
  if (after.kind === 'seen' && after.server.name !== to) throw renamedByOthers(to, after.server.name);
  actor.log.info('Renamed a Mac', { server: id, from, to, why });
  const wasInPool = [...poolPrefixes].some((prefix) => isPoolName(from, prefix));
  if (why === 'held') actor.events.event(host, renamedForHolder(from, to, wasInPool));
  return again(0);
};

const renamedByOthers = (wanted: string, found: string): ScalewayError =>
  new ScalewayError(
    `Scaleway took the name ${wanted} and shows ${found} right after. Find out who else renames this server, and stop them.`,
    { kind: 'garbled' },
  );

/** One guarded write: neither held nor on its way back. Its machine sees that and takes another one; the sweep reports it. */
const letGo = async (actor: Actor, pass: Pass, serverName: string): Promise<Outcome> => {
  const { client, events, log } = actor;
  const { snapshot, signal } = pass;
  const { id, spec, status } = snapshot;
  // Should it come back to the pool as it is, it is known not to be wiped.
  const host = spec.release?.hostKey
    ? await remember(actor, pass, { ...status, retiredHostKeys: retired(status, spec.release) })
    : pass.host;
  const { name, uid, resourceVersion } = host.metadata;
  const body = { metadata: { uid, resourceVersion }, spec: { consumerRef: null, reboot: null, release: null } };
  const written = await client.patch(macHost.resource, { name }, { type: 'merge', body }, { signal });
  log.warn('Let go of a Mac that somebody else has renamed', { server: id, name: serverName });
  events.event(written, takenByOthers(serverName, spec));
  return again(snapshot.limits.pollMs);
};

/** The state `pool`, which lets machines claim it, is written by the next pass: last of all. */
const returnToPool = async ({ client, events, log }: Actor, { host, snapshot, signal }: Pass): Promise<Outcome> => {
  const { spec, server, id } = snapshot;
  const { name, uid, resourceVersion } = host.metadata;
  const body = {
    metadata: { uid, resourceVersion },
    // The prefix is remembered: without it the pool of a fleet that was deleted would be a name like any other.
    spec: { release: null, ...(spec.release ? { poolPrefix: spec.release.poolPrefix } : {}) },
  };
  const written = await client.patch(macHost.resource, { name }, { type: 'merge', body }, { signal });
  const poolName = server.kind === 'seen' ? server.server.name : '';
  log.info('A Mac was wiped and is back in its pool', { server: id, name: poolName });
  events.event(written, returnedToPool(poolName));
  return again(snapshot.limits.pollMs);
};
