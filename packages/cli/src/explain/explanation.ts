import { type ConditionDefinition, conditionsByKind } from '@tartan/api';
import type { Condition, Live } from '@tartan/kube';
import type { CoreCluster } from '@tartan/provider/decisions';
import { z } from 'zod';
import type { ClusterState } from '../cluster/state.ts';
import { documentSchema, nullable } from '../output/view.ts';

const factSchema = z.object({ what: z.string(), is: z.string() });

const conditionSchema = z.object({
  type: z.string(),
  status: z.string(),
  reason: z.string(),
  means: nullable(z.string(), 'What that reason means, in general.'),
  message: z.string().describe('The message of the condition.'),
  since: z.string(),
});

const eventSchema = z.object({
  at: nullable(z.string(), 'The last time.'),
  object: z.string(),
  type: z.string(),
  reason: z.string(),
  message: z.string(),
  count: z.number(),
});

export const explainDocument = documentSchema('tartan.explain/v1', {
  subject: z.object({
    kind: z.enum(['machine', 'host', 'node', 'pod', 'fleet', 'runnerpool']),
    namespace: nullable(z.string()),
    name: z.string(),
  }),
  where: z.string().describe('The current state, in a sentence.'),
  decision: z.object({
    word: z.string().describe('The decision, as the controller names it.'),
    text: z.string(),
    from: z
      .enum(['computed', 'reported'])
      .describe(
        'computed: by the decision function of the controller, from the objects in the cluster. reported: read from a status.',
      ),
  }),
  facts: z.array(factSchema).describe('The facts behind the decision.'),
  next: z.array(z.string()).describe('What happens without an operator.'),
  remedies: z.array(z.string()).describe('What an operator can do.'),
  unseen: z.array(z.string()).describe('What the controller knows and this command cannot see.'),
  conditions: z.array(conditionSchema),
  events: z.array(eventSchema).describe('Oldest first.'),
});

export type ExplainDocument = z.infer<typeof explainDocument>;

/** What is told of a thing, before events are read. */
export interface Explanation
  extends Pick<
    ExplainDocument,
    'subject' | 'where' | 'decision' | 'facts' | 'next' | 'remedies' | 'unseen' | 'conditions'
  > {
  /** UIDs of all that belongs to the story: their events are shown. */
  readonly relatedUIDs: readonly string[];
}

/** A decision of a controller in the words of people. */
export interface DecisionText {
  readonly text: string;
  readonly next: readonly string[];
  readonly remedies: readonly string[];
}

/** What is asked in addition, when one thing is to be explained. */
export interface ExplainInput extends ClusterState {
  /** Cluster API's own Clusters by `namespace/name`. */
  readonly clusters: ReadonlyMap<string, Live<CoreCluster>>;
  /** What people say that the manager was told; its flags are not seen from here. */
  readonly managerFlags: ManagerFlags;
}

export interface ManagerFlags {
  readonly defaultPoolPrefix: string | undefined;
  readonly claimNamePrefix: string | undefined;
}

const conditionWords: Readonly<Record<string, Readonly<Record<string, ConditionDefinition>>>> = conditionsByKind;

/** What a reason means, in the words that have one home. Undefined for those of others. */
export const meaningOf = (kind: string, type: string, reason: string): string | undefined =>
  conditionWords[kind]?.[type]?.reasons[reason]?.[1];

/** For people: each with what its reason means, unless it says just that. */
export const conditionsOf = (
  kind: string,
  conditions: readonly Condition[] | undefined,
): ExplainDocument['conditions'] =>
  (conditions ?? []).map(({ type, status, reason, message, lastTransitionTime }) => ({
    type,
    status,
    reason,
    means: meaningOf(kind, type, reason) ?? null,
    message,
    since: lastTransitionTime,
  }));
