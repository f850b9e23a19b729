import { z } from 'zod';
import { dated, nullable } from '../show/schema.ts';

const orphan = z.object({
  host: z.string().describe('The MacHost.'),
  name: nullable(z.string(), 'At Scaleway.'),
  zone: z.string(),
  type: nullable(z.string()),
  os: nullable(z.string(), 'Release family of macOS.'),
  since: nullable(z.string(), 'Since when nobody knows it.'),
  verdict: z
    .enum(['leave', 'reclaim', 'needed'])
    .describe('needed: a machine may still need it, so it is never wiped.'),
  reason: z.string().describe('Of the condition Stranded.'),
  message: z.string().describe('What the sweep does, and why.'),
  neededBy: nullable(z.string(), 'namespace/name of that machine.'),
});

export const orphansDocument = dated('tartan.orphans/v1', {
  judgedBy: z
    .enum(['manager', 'flags'])
    .describe('manager: its own verdicts, as it wrote them. flags: what it would say with the prefixes given here.'),
  orphans: z.array(orphan).describe('The oldest first.'),
});

export type OrphansDocument = z.infer<typeof orphansDocument>;
