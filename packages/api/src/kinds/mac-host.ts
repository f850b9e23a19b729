import { z } from 'zod';
import { kindNames } from '../names.ts';
import { hostStates, releaseReasons } from '../reasons/states.ts';
import {
  conditions,
  count,
  flag,
  immutableZone,
  observedGeneration,
  optional,
  requiredText,
  text,
  time,
  withRules,
} from '../schema/fields.ts';
import { ageColumn, column, defineKind, type ObjectOf } from '../schema/kind.ts';

const consumerRef = z.object({
  apiVersion: requiredText('API version of the holder.'),
  kind: requiredText('Kind of the holder.'),
  namespace: requiredText('Namespace of the holder.'),
  name: requiredText('Name of the holder.'),
  uid: requiredText('UID of the holder. Another object of the same name is another holder.', 63),
});

const releasedBy = z.object({
  namespace: requiredText('Namespace of the machine.'),
  name: requiredText('Name of the machine.'),
  uid: requiredText('UID of the machine.', 63),
  cluster: optional(text('The Cluster of the machine, in the same namespace.', 253)),
});

const release = z.object({
  poolPrefix: requiredText('The pool to which the Mac is released: its new name begins with this.', 63),
  family: optional(
    text('The release family of macOS that is installed. Left out: what Scaleway installs on this type.', 63),
  ),
  reason: z.enum(releaseReasons).describe('Why.'),
  message: optional(text('What happened, for people.', 1024)),
  hostKey: optional(
    text('The SSH host key that this install has: a Mac that shows it after the wipe was not wiped.', 128),
  ),
  serverName: optional(
    text(
      'The name at Scaleway from which the Mac is released. Under any other name, except one of the pool, it has another owner: it is neither renamed nor wiped. Left out: any name.',
    ),
  ),
  requestedAt: time('Since when.'),
  machine: optional(
    releasedBy.describe(
      'The machine that gave the Mac back. While the machine or its Cluster is paused, the Mac is not wiped.',
    ),
  ),
});

const reboot = z.object({
  requestedAt: time('A later time than that of the last reboot asks for one more.'),
});

/**
 * A Mac is held, being released, or neither. Each transition is one write with optimistic locking (`resourceVersion`), so release and claim
 * exclude each other, even between two managers that both believe that they lead.
 */
const macHostSpec = withRules(
  z.object({
    zone: immutableZone('The zone of Scaleway.'),
    poolPrefix: optional(text('The pool it was claimed from, and to which it is released.', 63)),
    consumerRef: optional(consumerRef.describe('Who holds the Mac.')),
    release: optional(release.describe('The Mac is to be wiped and put back into a pool.')),
    reboot: optional(reboot.describe('The Mac is to be restarted, once.')),
  }),
  [
    {
      rule: '!has(self.consumerRef) || !has(self.release)',
      message: 'a Mac is either held or being released: set consumerRef or release, not both',
    },
    {
      rule: '!has(oldSelf.consumerRef) || !has(self.consumerRef) || self.consumerRef == oldSelf.consumerRef',
      message: 'another machine holds this Mac: it must be released and wiped first',
    },
    {
      rule: '!has(oldSelf.release) || !has(self.consumerRef)',
      message: 'this Mac is being released to the pool: claim it when it has been wiped, or claim another one',
    },
  ],
).describe('Who the Mac is for.');

const image = z.object({
  id: requiredText('The id of the image at Scaleway.'),
  name: text('Its name.'),
});

const wipe = z
  .object({
    attempts: count(
      'How often Scaleway was asked for it, or for the name that comes with it. Counted before the request.',
    ),
    requestedAt: time('When it was asked for.'),
    refusedAt: time('When Scaleway refused the last request. Left out: it was accepted, or not answered.'),
    refusal: text('What Scaleway refused last, and why.', 1024),
    image: image.describe('The image that was refused, so that it is not looked up for every attempt.'),
    stuckAt: time('Since when the Mac counts as one that cannot be wiped.'),
    reinstallingAt: time('When Scaleway was first seen reinstalling. Without this nothing was wiped.'),
    readyAt: time('When Scaleway was seen ready after that.'),
  })
  .exactPartial();

const quarantineCauses = ['BootstrapsFailed', 'NotWiped', 'WipeFailed'] as const;

const quarantine = z.object({
  count: count('How often it failed.'),
  reason: text('What went wrong last.', 1024),
  cause: optional(z.enum(quarantineCauses).describe('The reason of the condition Quarantined.')),
  until: time('Machines do not claim it before.'),
});

const claim = z.object({
  uid: requiredText('UID of the holder.', 63),
  namedAt: time('Since when the server was seen under the name of the holder.'),
  settledAt: optional(
    time('When the server still had that name after the time in which another cluster could have renamed it.'),
  ),
});

const macHostStatus = z
  .object({
    state: z.enum(hostStates).describe('Where the Mac is between pool and machine.'),
    since: time('Since when it is in this state.'),
    name: text('Its name at Scaleway.'),
    type: text('Its type, as Scaleway calls it.', 63),
    osFamily: text('The release family of macOS that was installed.', 63),
    osImage: text('The image that was installed. Updates in place do not show.'),
    serverStatus: text('What Scaleway says it is doing, such as ready or reinstalling.', 63),
    ip: text('Its public address.', 45),
    gone: flag('Scaleway was asked for the server, and does not know it any more.'),
    heldBy: text('Namespace and name of its holder, for people.', 512),

    claim: claim.describe('How far the claim of the holder has come. Nothing is done on the Mac before it is settled.'),
    installs: count(
      'How many reinstalls were seen. Every install has an SSH host key of its own, pinned for that install only.',
    ),
    osRequested: z
      .object({
        family: text('The release family.', 63),
        at: time('When.'),
      })
      .describe('The macOS that the last reinstall asked for.'),
    wipe: wipe.describe('How far the wipe has come that the release asked for.'),
    retiredHostKeys: z.array(requiredText('A fingerprint, such as SHA256:….', 128)).max(64).readonly().meta({
      description: 'Host keys of earlier installs. A Mac that shows one of them was not wiped.',
      'x-kubernetes-list-type': 'set',
    }),
    quarantine: quarantine.describe('Why the Mac may not be claimed for now.'),
    rebootIssuedAt: time('When Scaleway was last asked to restart it.'),
    conditions: conditions(),
    observedGeneration: observedGeneration(),
  })
  .exactPartial()
  .describe('What is known of the Mac.');

export const macHost = defineKind({
  names: kindNames.macHost,
  description:
    'One physical Mac, named by the id of its server: what it is, where it is between pool and machine, and who holds it. Lost ones are made again from the names at Scaleway.',
  spec: macHostSpec,
  status: macHostStatus,
  rules: [
    {
      rule: "has(oldSelf.spec.consumerRef) || !has(self.spec.consumerRef) || !has(self.status) || !has(self.status.state) || !(self.status.state in ['releasing', 'quarantined', 'abandoned'])",
      message: 'only a Mac that is neither being released, nor in quarantine, nor abandoned can be claimed',
    },
  ],
  columns: [
    column('State', '.status.state'),
    column('Type', '.status.type'),
    column('Zone', '.spec.zone'),
    column('OS', '.status.osFamily'),
    column('Held-By', '.status.heldBy'),
    column('Since', '.status.since', { type: 'date', description: 'In this state for so long.' }),
    column('Quarantine', '.status.quarantine.reason'),
    column('Name', '.status.name', { priority: 1 }),
    column('IP', '.status.ip', { priority: 1 }),
    column('Server', '.status.serverStatus', { priority: 1 }),
    { ...ageColumn, priority: 1 },
  ],
  categories: ['cluster-api'],
  contract: false,
});

export type MacHost = ObjectOf<typeof macHost>;
export type MacHostSpec = MacHost['spec'];
export type MacHostStatus = NonNullable<MacHost['status']>;
