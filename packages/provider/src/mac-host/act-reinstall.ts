import { again, type Outcome } from '@tartan/kube';
import { timestamp } from '@tartan/kube/clock';
import { newestImage } from '@tartan/scaleway';
import { releaseHost } from '../claim/release-host.ts';
import type { Decision } from './decision.ts';
import { noImage, otherOSWanted } from './happenings.ts';
import { type Actor, type Pass, remember } from './pass.ts';

/**
 * Sends a free Mac once through the way back, so that it gets another macOS. One guarded write: a machine that claims the Mac at the same
 * time wins or loses as a whole. Where Scaleway has no image of the family nothing is wiped, and that is remembered.
 */
export const reinstall = async (
  actor: Actor,
  pass: Pass,
  { family, poolPrefix }: Extract<Decision, { kind: 'reinstall' }>,
): Promise<Outcome> => {
  const { client, pool, events, log, gate } = actor;
  const { host, snapshot, signal } = pass;
  const { id, spec, status, server, now, limits } = snapshot;
  const { type, name: serverName } = server.kind === 'seen' ? server.server : { type: '', name: '' };
  if (newestImage(await pool.listImages(spec.zone, type, { signal }), family) === undefined) {
    const written = await remember(actor, pass, { ...status, osRequested: { family, at: timestamp(now) } });
    events.event(written, noImage(family, type));
    return again(limits.reportMs);
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
  events.event(written, otherOSWanted(status.osFamily, family));
  return again(limits.pollMs);
};
