import { z } from 'zod';
import { dated, nullable } from '../show/schema.ts';

const turn = z.object({
  machine: z.string(),
  canary: z.boolean().describe('It goes first, alone.'),
  rollBack: z.boolean().describe('What it had before is put back.'),
  since: z.string(),
});

const stop = z.object({ reason: z.string(), machine: z.string(), message: z.string(), at: z.string() });

const roll = z.object({
  namespace: z.string(),
  fleet: z.string(),
  paused: z.boolean(),
  pausedByRelease: z.boolean().describe('By the values of the chart: `tartan roll resume` does not end it.'),
  state: nullable(z.string(), 'Reason of the condition Rolling; null: the manager has not looked at it yet.'),
  message: nullable(z.string(), 'Its message: how far it is, and who is left.'),
  revision: nullable(z.string(), 'What all Macs of the fleet shall have in common, as a hash.'),
  desired: nullable(z.number()),
  existing: nullable(z.number()),
  ready: nullable(z.number()),
  updated: nullable(z.number(), 'Machines that have what they shall have.'),
  maxUnavailable: z.number(),
  turns: z.array(turn).describe('Who may be rolled now.'),
  stopped: nullable(stop, 'Why the roll has stopped.'),
  seen: z.boolean().describe('The manager has seen the spec as it is now.'),
});

export const rollDocument = dated('tartan.roll/v1', { fleets: z.array(roll) });

export type RollDocument = z.infer<typeof rollDocument>;
