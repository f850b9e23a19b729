import { again, type Outcome } from '@tartan/kube';
import { type Image, newestImage, ScalewayError } from '@tartan/scaleway';
import type { Trouble } from './conditions.ts';
import type { Decision } from './decision.ts';
import { guarded } from './guard.ts';
import { noImage, quarantinedNow, wipeRequested } from './happenings.ts';
import { look } from './observe.ts';
import { type Actor, type Pass, remember } from './pass.ts';
import { isInDoubt } from './refusals.ts';

/**
 * Asks for the reinstall.
 *
 * Flow: the image; the attempt written down; the call; a look. Guarantees: the attempt is in the status before the call, so whoever
 * comes after a crash waits and looks before asking again. A refusal or a pause takes the attempt back; a lost answer does not. The server bore
 * its releasing name when this was decided, a moment ago, and `spec.release` stands: no machine holds it (invariant 2).
 */
export const requestWipe = async (
  actor: Actor,
  pass: Pass,
  { wipe, quarantine }: Extract<Decision, { kind: 'request wipe' }>,
): Promise<Outcome> => {
  const { pool, events, log } = actor;
  const { snapshot, signal } = pass;
  const { id, spec, status, limits } = snapshot;
  const image = await imageFor(actor, pass).catch(async (error: unknown) => {
    if (error instanceof ScalewayError) await remember(actor, pass, status, troubleOf(error));
    throw error;
  });
  const attempt = { ...status, wipe, ...(quarantine ? { quarantine } : {}) };
  const host = await remember(actor, pass, attempt);
  const remembered: Pass = { ...pass, host, snapshot: { ...snapshot, status: attempt } };
  try {
    const made = await guarded(actor, host, signal, (options) => pool.reinstall(spec.zone, id, image?.id, options));
    if (made === 'paused') await remember(actor, remembered, status);
    if (made !== 'called') return again(limits.pollMs);
  } catch (error) {
    if (!(error instanceof ScalewayError)) throw error;
    if (!isAccepted(error) && !isInDoubt(error)) {
      await remember(actor, remembered, status, troubleOf(error));
      throw error;
    }
    log.warn('Whether Scaleway reinstalls a Mac is to be seen', { server: id, error });
  }
  log.info('Asked Scaleway to reinstall a Mac', { server: id, attempt: wipe.attempts, image: image?.name });
  events.event(host, wipeRequested(wipe, image?.name));
  if (quarantine) events.event(host, quarantinedNow(quarantine));
  await look(actor, spec.zone, id, { signal });
  return again(0);
};

const troubleOf = ({ message }: ScalewayError): Trouble => ({ during: 'wipe', message });

/** Somebody was faster. Any other state, such as `rebooting`, comes back with the old disk (G-02). */
const isAccepted = ({ kind, state }: ScalewayError): boolean => kind === 'transient state' && state === 'reinstalling';

/** Read anew each time: Scaleway retires images without notice (I-28). */
const imageFor = async ({ pool, events }: Actor, { host, snapshot, signal }: Pass): Promise<Image | undefined> => {
  const { spec, server } = snapshot;
  const family = spec.release?.family;
  if (!family || server.kind !== 'seen') return undefined;
  const { type } = server.server;
  const image = newestImage(await pool.listImages(spec.zone, type, { signal }), family);
  if (!image) events.event(host, noImage(family, type));
  return image;
};
