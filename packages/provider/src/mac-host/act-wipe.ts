import type { MacHostStatus } from '@tartan/api';
import { type ReconcileResult, requeueAfter } from '@tartan/kube';
import { timestamp } from '@tartan/kube/clock';
import { type Image, newestImage, osFamilyKey, ScalewayError } from '@tartan/scaleway';
import type { Decision } from './decide.ts';
import { type ActDeps, callDeadline, callGuarded, type ReconcileContext, writeStatus } from './guard.ts';
import { readServer } from './observe.ts';
import { demandOf, familyToInstall } from './os-demand.ts';
import { isOutcomeUnknown } from './refusal-backoff.ts';
import type { Wipe } from './snapshot.ts';
import { noImageEvent, quarantinedEvent, wipeRequestedEvent } from './status.ts';
import { refusedWipe, retryInMs } from './wipe.ts';

/**
 * Requests the reinstall.
 * Flow: record the attempt with the macOS wanted now; find the image; make the call; read the server. Guarantees: the attempt is in the
 * status before the call, and stays there whatever Scaleway answers, so the next pass waits before it asks again, also after a crash or a
 * refusal; only a pause reverts it. When this was decided, a moment ago, the server had its releasing name and `spec.release` was set: no
 * machine holds it.
 */
export const requestWipe = async (
  deps: ActDeps,
  context: ReconcileContext,
  { wipe: next, quarantine }: Extract<Decision, { kind: 'request wipe' }>,
): Promise<ReconcileResult> => {
  const { pool, events, log, clock } = deps;
  const { snapshot, signal } = context;
  const { id, spec, status, limits, now } = snapshot;
  const family = osFamilyFor(deps, context);
  const wipe = family === status.osRequested?.family ? next : withoutImage(next);
  const attempt: MacHostStatus = {
    ...status,
    wipe,
    ...(quarantine && { quarantine }),
    ...(family && { osRequested: { family, at: wipe.requestedAt ?? timestamp(now) } }),
  };
  const host = await writeStatus(deps, context, attempt);
  const attemptContext: ReconcileContext = { ...context, host, snapshot: { ...snapshot, status: attempt } };
  let image = wipe.image;
  let isAsked = false;
  try {
    image ??= await imageFor(deps, context, family);
    isAsked = true;
    const made = await callGuarded(
      deps,
      host,
      signal,
      (options) => pool.reinstall(spec.zone, id, image?.id, options),
      callDeadline(snapshot),
    );
    if (made === 'paused') await writeStatus(deps, attemptContext, status);
    if (made !== 'called') return requeueAfter(limits.pollMs);
  } catch (error) {
    if (!(error instanceof ScalewayError)) throw error;
    const isRefused = !isAsked || !(isAlreadyReinstalling(error) || isOutcomeUnknown(error));
    const known =
      image && !isImageSuspect(error) ? { ...wipe, image: { id: image.id, name: image.name } } : withoutImage(wipe);
    const after = isRefused ? refusedWipe(known, error.message, clock.now()) : known;
    await writeStatus(deps, attemptContext, { ...attempt, wipe: after });
    log.warn('Scaleway did not reinstall a Mac', { server: id, attempt: wipe.attempts, refused: isRefused, error });
    if (isRefused) return requeueAfter(retryInMs(after, clock.now(), limits));
  }
  log.info('Asked Scaleway to reinstall a Mac', { server: id, attempt: wipe.attempts, image: image?.name });
  events.event(host, wipeRequestedEvent(wipe, image?.name));
  if (quarantine) events.event(host, quarantinedEvent(quarantine));
  await readServer(deps, spec.zone, id, { signal });
  return requeueAfter(0);
};

/** By what machines wait for now. */
const osFamilyFor = (deps: ActDeps, { host }: ReconcileContext): string | undefined => {
  const family = familyToInstall(host, demandOf(deps, host));
  return family && osFamilyKey(family);
};

const withoutImage = ({ image: _image, ...rest }: Wipe): Wipe => rest;

/** The image may be the cause: Scaleway retires images without notice (INC-328). It is looked up again. */
const isImageSuspect = ({ kind }: ScalewayError): boolean => kind === 'invalid' || kind === 'not found';

/** Another request was faster. In any other state, such as `rebooting`, the server comes back with the old disk. */
const isAlreadyReinstalling = ({ kind, state }: ScalewayError): boolean =>
  kind === 'transient state' && state === 'reinstalling';

/** Macs that are wiped together share a list of images. Shorter than any retry: an image that was refused is looked up again. */
export const maxImagesAgeMs = 10_000;

/** Falls back to the Mac's own family when Scaleway does not have the family that a machine waits for. */
const imageFor = async (
  { pool, events }: ActDeps,
  { host, snapshot, signal }: ReconcileContext,
  family: string | undefined,
): Promise<Image | undefined> => {
  const { spec, server } = snapshot;
  const own = spec.release?.family;
  if (!family || server.kind !== 'seen') return undefined;
  const { type } = server.server;
  const images = await pool.listImages(spec.zone, type, { signal, maxAgeMs: maxImagesAgeMs });
  const image = newestImage(images, family);
  if (!image) events.event(host, noImageEvent(family, type));
  return image ?? (own ? newestImage(images, own) : undefined);
};
