import { again, type Outcome } from '@tartan/kube';
import { timestamp } from '@tartan/kube/clock';
import { ScalewayError } from '@tartan/scaleway';
import { guarded, lastMoment } from './guard.ts';
import { rebootRefused } from './happenings.ts';
import { look } from './observe.ts';
import { type Actor, type Pass, remember } from './pass.ts';
import { isInDoubt } from './refusals.ts';

/** Restarts it once: that it was asked for is written down first, and taken back only if Scaleway said no. */
export const reboot = async (actor: Actor, pass: Pass): Promise<Outcome> => {
  const { pool, events, log } = actor;
  const { snapshot, signal } = pass;
  const { id, spec, status, now, limits } = snapshot;
  const issued = { ...status, rebootIssuedAt: notBefore(spec.reboot?.requestedAt, now) };
  const host = await remember(actor, pass, issued);
  try {
    const made = await guarded(
      actor,
      host,
      signal,
      (options) => pool.reboot(spec.zone, id, options),
      lastMoment(snapshot),
    );
    if (made === 'paused') await remember(actor, { ...pass, host, snapshot: { ...snapshot, status: issued } }, status);
    if (made !== 'called') return again(limits.pollMs);
    log.info('Asked Scaleway to restart a Mac', { server: id });
  } catch (error) {
    if (!(error instanceof ScalewayError)) throw error;
    const isRebooting = error.kind === 'transient state' && error.state === 'rebooting';
    if (!isRebooting && !isInDoubt(error)) {
      await remember(actor, { ...pass, host, snapshot: { ...snapshot, status: issued } }, status);
      events.event(host, rebootRefused(error.message));
      throw error;
    }
  }
  await look(actor, spec.zone, id, { signal });
  return again(0);
};

/** Whoever asked may have another clock, and whole seconds are cut off: a time before the request would ask for ever. */
const notBefore = (requestedAt: string | undefined, now: number): string =>
  requestedAt !== undefined && Date.parse(requestedAt) > Date.parse(timestamp(now)) ? requestedAt : timestamp(now);
