import { z } from 'zod';
import { dated, nullable } from '../show/schema.ts';

const group = z.object({
  state: nullable(z.string(), 'null: nobody has looked at them yet.'),
  type: nullable(z.string()),
  os: nullable(z.string(), 'Release family of macOS.'),
  zone: z.string(),
  count: z.number(),
  oldest: nullable(z.string(), 'Since when the first of them is in that state.'),
  oldestHost: nullable(z.string(), 'Which one that is.'),
});

const quarantined = z.object({
  host: z.string(),
  name: nullable(z.string(), 'At Scaleway.'),
  until: z.string().describe('Nobody claims it before.'),
  over: z.boolean().describe('That time has passed: the next look frees it.'),
  count: z.number().describe('How often it failed.'),
  reason: z.string(),
});

export const poolDocument = dated('tartan.pool/v1', {
  total: z.number(),
  free: z.number().describe('In the pool, and ready at Scaleway.'),
  waiting: z.number().describe('Machines without a Mac.'),
  groups: z.array(group).describe('By state, type, macOS and zone.'),
  quarantined: z.array(quarantined).describe('Also those on their way back that nobody may claim then.'),
});

export type PoolDocument = z.infer<typeof poolDocument>;
