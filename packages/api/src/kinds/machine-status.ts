import { z } from 'zod';
import { machinePhases } from '../reasons/phases.ts';
import {
  addresses,
  conditions,
  count,
  flag,
  name,
  observedGeneration,
  optional,
  text,
  time,
} from '../schema/fields.ts';

/**
 * What is known of a machine. Counters and verdicts are memory: written before the act they guard, and safe to lose.
 * `failureReason` and `failureMessage` are left out on purpose: core copies them to the Machine for ever, while nothing of ours is
 * final (G-17).
 */
export const machineStatus = z
  .object({
    ready: optional(flag('The Node is Ready on a Mac that runs. For managers of contract v1beta1.')),
    initialization: optional(
      z
        .object({
          provisioned: optional(flag('The Mac was claimed and made ready once. Never goes back.')),
        })
        .describe('What Cluster API waits for, by contract v1beta2.'),
    ),
    phase: optional(z.enum(machinePhases).describe('Where it is in its life, in one word for people.')),
    serverID: optional(
      text('The server it has reserved: the name of a MacHost. Reserved here before it is claimed there.'),
    ),
    serverVersion: optional(
      text(
        'The resource version of that MacHost when it was reserved: it is claimed as it was then, or not at all.',
        63,
      ),
    ),
    addresses: optional(addresses()),
    conditions: optional(conditions()),
    observedGeneration: optional(observedGeneration()),

    bootstrapAttempts: optional(count('How often making this Mac ready has failed in a row.')),
    bootstrapRebootIssued: optional(flag('The one reboot that may help it has been asked for.')),
    lastBootstrapFailureTime: optional(time('When it failed last.')),
    hostKeyEpoch: optional(
      count('The install of the MacHost whose SSH host key is pinned. A later install brings a new key.'),
    ),
    hostKey: optional(
      text('The SSH host key of that install, so that a Secret that is lost costs no trust in the Mac.', 128),
    ),
    joinTokenID: optional(text('The public half of the token with which the Mac may join now.', 63)),
    joinTokenExpires: optional(time('When that token ends by itself.')),
    certificateExpires: optional(time('When the latest certificate ends that the Mac is known to have got.')),
    joinVersion: optional(text('Which join credentials the Mac was given last. Says nothing about them.')),

    hostConfigHash: optional(text('Summary of the steps that the Mac has, as its agent reports it.')),
    desiredHostConfigHash: optional(text('Summary of the steps that it shall have.')),
    plannedBy: optional(text('The --release-id of the manager that said so.', 63)),
    leftOut: optional(
      z
        .object({
          desired: name('What the Mac should have got.'),
          actual: name('What it has instead.'),
          message: text('What failed.', 1024),
          at: time('When.'),
        })
        .describe(
          'Steps that may fail did, and cost only themselves. Until they are tried again the Mac counts as up to date.',
        ),
    ),
    failedHostConfigHash: optional(
      text('The summary that the Mac refused. Tried again after a while, or when another is wanted.'),
    ),
    tartKubeletUpdateAttempts: optional(count('How often a roll has failed in a row.')),
    lastUpdateFailureTime: optional(time('When a roll failed last.')),
  })
  .describe('What is known of the machine.');
