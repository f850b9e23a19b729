import { z } from 'zod';
import { dated, nullable } from '../show/schema.ts';

const fact = z.object({ what: z.string(), is: z.string() });

const condition = z.object({
  type: z.string(),
  status: z.string(),
  reason: z.string(),
  means: nullable(z.string(), 'What that reason means, in general.'),
  message: z.string().describe('What it means here.'),
  since: z.string(),
});

const event = z.object({
  at: nullable(z.string(), 'The last time.'),
  object: z.string(),
  type: z.string(),
  reason: z.string(),
  message: z.string(),
  count: z.number(),
});

export const explainDocument = dated('tartan.explain/v1', {
  subject: z.object({
    kind: z.enum(['machine', 'host', 'node', 'pod', 'fleet', 'runnerpool']),
    namespace: nullable(z.string()),
    name: z.string(),
  }),
  where: z.string().describe('Where it is now, in a sentence.'),
  decision: z.object({
    word: z.string().describe('What is decided, in one word of the controller.'),
    text: z.string(),
    from: z
      .enum(['computed', 'reported'])
      .describe("computed: by the controller's own function, from what is in the cluster. reported: by a status."),
  }),
  facts: z.array(fact).describe('What that rests on.'),
  next: z.array(z.string()).describe('What happens by itself.'),
  remedies: z.array(z.string()).describe('What a person could do.'),
  unseen: z.array(z.string()).describe('What the controller knows and this command cannot see.'),
  conditions: z.array(condition),
  events: z.array(event).describe('The latest last.'),
});

export type ExplainDocument = z.infer<typeof explainDocument>;

/** What is told of a thing, before events are read. */
export interface Story
  extends Pick<
    ExplainDocument,
    'subject' | 'where' | 'decision' | 'facts' | 'next' | 'remedies' | 'unseen' | 'conditions'
  > {
  /** UIDs of all that belongs to the story: their events are shown. */
  readonly about: readonly string[];
}

/** A decision of a controller in the words of people. */
export interface Words {
  readonly text: string;
  readonly next: readonly string[];
  readonly remedies: readonly string[];
}
