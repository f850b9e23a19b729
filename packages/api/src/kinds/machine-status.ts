import { z } from 'zod';
import { machinePhases } from '../reasons/phases.ts';
import { addresses, conditions, count, flag, observedGeneration, optional, text, time } from '../schema/fields.ts';

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
    addresses: optional(addresses()),
    conditions: optional(conditions()),
    observedGeneration: optional(observedGeneration()),

    bootstrapAttempts: optional(count('How often making this Mac ready has failed in a row.')),
    bootstrapRebootIssued: optional(flag('The one reboot that may help it has been asked for.')),
    lastBootstrapFailureTime: optional(time('When it failed last.')),
    hostKeyEpoch: optional(
      count('The install of the MacHost whose SSH host key is pinned. A later install brings a new key.'),
    ),
    joinVersion: optional(text('Which join credentials the Mac was given last. Says nothing about them.')),

    hostConfigHash: optional(text('Summary of the steps that the Mac has, as its agent reports it.')),
    desiredHostConfigHash: optional(text('Summary of the steps that it shall have.')),
    failedHostConfigHash: optional(
      text('The summary that the Mac refused. Tried again after a while, or when another is wanted.'),
    ),
    tartKubeletUpdateAttempts: optional(count('How often a roll has failed in a row.')),
    lastUpdateFailureTime: optional(time('When a roll failed last.')),
  })
  .describe('What is known of the machine.');
