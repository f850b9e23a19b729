import { z } from 'zod';
import { hostStates } from '../reasons/phases.ts';
import { conditions, count, name, observedGeneration, optional, text, time } from '../schema/fields.ts';

const image = z.object({
  id: name('The id of the image at Scaleway.'),
  name: text('Its name.'),
});

const wipe = z.object({
  attempts: optional(
    count('How often Scaleway was asked for it, or for the name that comes with it. Counted before the request.'),
  ),
  requestedAt: optional(time('When it was asked for.')),
  refusedAt: optional(time('When Scaleway refused the last request. Left out: it was accepted, or not answered.')),
  refusal: optional(text('What Scaleway refused last, and why.', 1024)),
  image: optional(image.describe('The image that was refused, so that it is not looked up for every attempt.')),
  stuckAt: optional(time('Since when the Mac counts as one that cannot be wiped.')),
  reinstallingAt: optional(time('When Scaleway was first seen reinstalling. Without this nothing was wiped.')),
  readyAt: optional(time('When Scaleway was seen ready after that.')),
});

const quarantine = z.object({
  count: count('How often it failed.'),
  reason: text('What went wrong last.', 1024),
  until: time('Nobody claims it before.'),
});

const claim = z.object({
  uid: name('UID of the holder.', 63),
  namedAt: time('Since when the server was seen under the name of the holder.'),
  settledAt: optional(
    time('When the server still had that name after the time in which another cluster could have renamed it.'),
  ),
});

export const macHostStatus = z
  .object({
    state: optional(z.enum(hostStates).describe('Where the Mac is between pool and machine.')),
    since: optional(time('Since when it is in this state.')),
    name: optional(text('Its name at Scaleway.')),
    type: optional(text('Its type, as Scaleway calls it.', 63)),
    osFamily: optional(text('The release family of macOS that was installed.', 63)),
    osImage: optional(text('The image that was installed. Updates in place do not show.')),
    serverStatus: optional(text('What Scaleway says it is doing, such as ready or reinstalling.', 63)),
    ip: optional(text('Its public address.', 45)),
    heldBy: optional(text('Namespace and name of its holder, for people.', 512)),

    claim: optional(
      claim.describe('How far the claim of the holder has come. Nothing is done on the Mac before it is settled.'),
    ),
    installs: optional(
      count(
        'How many reinstalls were seen. Every install has an SSH host key of its own, pinned for that install only.',
      ),
    ),
    osRequested: optional(
      z
        .object({
          family: text('The release family.', 63),
          at: time('When.'),
        })
        .describe('The macOS that the last reinstall asked for.'),
    ),
    wipe: optional(wipe.describe('How far the wipe has come that the release asked for.')),
    retiredHostKeys: optional(
      z.array(name('A fingerprint, such as SHA256:….', 128)).max(64).readonly().meta({
        description: 'Host keys of earlier installs. A Mac that shows one of them was not wiped.',
        'x-kubernetes-list-type': 'set',
      }),
    ),
    quarantine: optional(quarantine.describe('Why nobody may claim the Mac for now.')),
    rebootIssuedAt: optional(time('When Scaleway was last asked to restart it.')),
    conditions: optional(conditions()),
    observedGeneration: optional(observedGeneration()),
  })
  .describe('What is known of the Mac.');
