import { z } from 'zod';
import { releaseReasons } from '../reasons/phases.ts';
import { immutableZone, name, optional, text, time } from '../schema/fields.ts';
import { withRules } from '../schema/rule.ts';

const consumerRef = z.object({
  apiVersion: name('API version of the holder.'),
  kind: name('Kind of the holder.'),
  namespace: name('Namespace of the holder.'),
  name: name('Name of the holder.'),
  uid: name('UID of the holder: another object under the same name is somebody else.', 63),
});

const releasedBy = z.object({
  namespace: name('Namespace of the machine.'),
  name: name('Name of the machine.'),
  uid: name('UID of the machine.', 63),
  cluster: optional(text('The Cluster of the machine, in the same namespace.', 253)),
});

const release = z.object({
  poolPrefix: name('The pool it goes back to: its new name begins with this.', 63),
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
      "The name at Scaleway that the Mac goes back from. Under any other name, unless it is one of the pool, it is somebody else's: it is neither renamed nor wiped. Left out: whatever it is called.",
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
 * A Mac is held, or on its way back, or neither. Who changes one into the other does it in one write that is guarded by the resource
 * version; so release and claim exclude each other, also between two managers that both believe to lead.
 */
export const macHostSpec = withRules(
  z.object({
    zone: immutableZone('The zone of Scaleway.'),
    poolPrefix: optional(text('The pool it was claimed from, remembered for the way back.', 63)),
    consumerRef: optional(consumerRef.describe('Who holds the Mac.')),
    release: optional(release.describe('The Mac is to be wiped and put back into a pool.')),
    reboot: optional(reboot.describe('The Mac is to be restarted, once.')),
  }),
  [
    {
      rule: '!has(self.consumerRef) || !has(self.release)',
      message: 'a Mac is either held or on its way back to the pool: set consumerRef or release, not both',
    },
    {
      rule: '!has(oldSelf.consumerRef) || !has(self.consumerRef) || self.consumerRef == oldSelf.consumerRef',
      message: 'this Mac is held by somebody else: it has to be released and wiped first',
    },
    {
      rule: '!has(oldSelf.release) || !has(self.consumerRef)',
      message: 'this Mac is on its way back to the pool: claim it when it has been wiped, or claim another one',
    },
  ],
).describe('Who the Mac is for.');
