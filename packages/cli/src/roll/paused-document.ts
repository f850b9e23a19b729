import { z } from 'zod';

/** What `roll pause` and `roll resume` print. */
export const pausedDocument = z.strictObject({
  schema: z.literal('tartan.roll-pause/v1'),
  namespace: z.string(),
  fleet: z.string(),
  paused: z.boolean().describe('As it is now: true after a resume when the release pauses the fleet.'),
  changed: z.boolean().describe('false: it was so already.'),
});

export type PausedDocument = z.infer<typeof pausedDocument>;
