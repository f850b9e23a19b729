import type { MacHostStatus } from '@tartan/api';
import { again, type Outcome } from '@tartan/kube';
import { timestamp } from '@tartan/kube/clock';
import { type Image, newestImage, osFamilyKey, ScalewayError } from '@tartan/scaleway';
import type { Decision } from './decision.ts';
import { guarded, lastMoment } from './guard.ts';
import { noImage, quarantinedNow, wipeRequested } from './happenings.ts';
import { look } from './observe.ts';
import { familyToInstall } from './os-demand.ts';
import { type Actor, type Pass, remember } from './pass.ts';
import { isInDoubt } from './refusals.ts';
import type { Wipe } from './snapshot.ts';
import { refusedWipe, restMs } from './wipe.ts';

/**
 * Asks for the reinstall.
 *
 * Flow: the attempt written down, with the macOS that is wanted now; the image; the call; a look. Guarantees: the attempt is in the status
 * before the call, and stays there whatever Scaleway answers, so whoever comes after a crash or a refusal waits before asking again; a pause
 * takes it back. The server bore its releasing name when this was decided, a moment ago, and `spec.release` stands: no machine holds it
 * (invariant 2).
 */
export const requestWipe = async (
  actor: Actor,
  pass: Pass,
  { wipe: next, quarantine }: Extract<Decision, { kind: 'request wipe' }>,
): Promise<Outcome> => {
  const { pool, events, log, clock } = actor;
  const { snapshot, signal } = pass;
  const { id, spec, status, limits, now } = snapshot;
  const family = familyFor(actor, pass);
  const wipe = family === status.osRequested?.family ? next : withoutImage(next);
  const attempt: MacHostStatus = {
    ...status,
    wipe,
    ...(quarantine ? { quarantine } : {}),
    ...(family ? { osRequested: { family, at: wipe.requestedAt ?? timestamp(now) } } : {}),
  };
  const host = await remember(actor, pass, attempt);
  const remembered: Pass = { ...pass, host, snapshot: { ...snapshot, status: attempt } };
  let image = wipe.image;
  let isAsked = false;
  try {
    image ??= await imageFor(actor, pass, family);
    isAsked = true;
    const made = await guarded(
      actor,
      host,
      signal,
      (options) => pool.reinstall(spec.zone, id, image?.id, options),
      lastMoment(snapshot),
    );
    if (made === 'paused') await remember(actor, remembered, status);
    if (made !== 'called') return again(limits.pollMs);
  } catch (error) {
    if (!(error instanceof ScalewayError)) throw error;
    const isRefused = !isAsked || !(isAccepted(error) || isInDoubt(error));
    const known =
      image && !isAboutTheRequest(error) ? { ...wipe, image: { id: image.id, name: image.name } } : withoutImage(wipe);
    const after = isRefused ? refusedWipe(known, error.message, clock.now()) : known;
    await remember(actor, remembered, { ...attempt, wipe: after });
    log.warn('Scaleway did not reinstall a Mac', { server: id, attempt: wipe.attempts, refused: isRefused, error });
    if (isRefused) return again(restMs(after, clock.now(), limits));
  }
  log.info('Asked Scaleway to reinstall a Mac', { server: id, attempt: wipe.attempts, image: image?.name });
  events.event(host, wipeRequested(wipe, image?.name));
  if (quarantine) events.event(host, quarantinedNow(quarantine));
  await look(actor, spec.zone, id, { signal });
  return again(0);
};

/** By what machines wait for at this moment. */
const familyFor = ({ machines, macHosts, defaultPoolPrefix, clock }: Actor, { host }: Pass): string | undefined => {
  const { release } = host.spec;
  if (!release) return undefined;
  const demand = { machines: machines.list(), hosts: macHosts.list(), defaultPoolPrefix, now: clock.now() };
  const family = familyToInstall(host, release, demand);
  return family && osFamilyKey(family);
};

const withoutImage = (wipe: Wipe): Wipe => {
  const { image: _image, ...rest } = wipe;
  return rest;
};

/** The image may be the reason: Scaleway retires them without notice (I-28). It is looked up again. */
const isAboutTheRequest = ({ kind }: ScalewayError): boolean => kind === 'invalid' || kind === 'not found';

/** Somebody was faster. Any other state, such as `rebooting`, comes back with the old disk (G-02). */
const isAccepted = ({ kind, state }: ScalewayError): boolean => kind === 'transient state' && state === 'reinstalling';

/** A machine that waits for a family that Scaleway does not have must not keep the Mac from getting its own. */
const imageFor = async (
  { pool, events }: Actor,
  { host, snapshot, signal }: Pass,
  family: string | undefined,
): Promise<Image | undefined> => {
  const { spec, server } = snapshot;
  const own = spec.release?.family;
  if (!family || server.kind !== 'seen') return undefined;
  const { type } = server.server;
  const images = await pool.listImages(spec.zone, type, { signal });
  const image = newestImage(images, family);
  if (!image) events.event(host, noImage(family, type));
  return image ?? (own ? newestImage(images, own) : undefined);
};
