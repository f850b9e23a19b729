import { z } from 'zod';
import { dated, nullable } from '../show/schema.ts';

export const versionDocument = dated('tartan.version/v1', {
  client: z.object({ version: z.string().describe('Of this command.'), node: z.string().describe('What it runs on.') }),
  server: nullable(z.object({ version: z.string() }), 'Kubernetes; null: it was not asked, or did not answer.'),
  manager: nullable(
    z.object({ holder: z.string(), namespace: z.string(), renewed: nullable(z.string()) }),
    'Who leads, by its Lease; null: none was found.',
  ),
  agents: z.array(
    z.object({ node: z.string(), version: nullable(z.string()), ready: z.enum(['True', 'False', 'Unknown']) }),
  ),
});

export type VersionDocument = z.infer<typeof versionDocument>;
