import { type ConditionDefinition, conditionsByKind } from '@tartan/api';
import type { Condition, Live } from '@tartan/kube';
import type { CoreCluster, ReclaimPolicy } from '@tartan/provider/decisions';
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

/** The parts of the document that depend on the kind. */
export interface Explanation extends Omit<ExplainDocument, 'schema' | 'at' | 'subject' | 'events' | 'notes'> {
  /** UIDs of other objects whose events are shown too. */
  readonly relatedUIDs?: readonly string[];
}

/** A decision of a controller as text. */
export interface DecisionText extends Pick<Explanation, 'next' | 'remedies'> {
  readonly text: string;
}

export const decisionText = (text: string, next: string[] = [], remedies: string[] = []): DecisionText => ({
  text,
  next,
  remedies,
});

export interface ExplainInput extends ClusterState {
  /** Clusters of Cluster API by `namespace/name`. */
  readonly clusters: ReadonlyMap<string, Live<CoreCluster>>;
  /** Given by the user, since the flags of the manager are not visible in the cluster. */
  readonly managerFlags: ReclaimPolicy;
}

const conditionWords: Readonly<Record<string, Readonly<Record<string, ConditionDefinition>>>> = conditionsByKind;

/** What a reason means. Undefined for conditions of others. */
export const meaningOf = (kind: string, type: string, reason: string): string | undefined =>
  conditionWords[kind]?.[type]?.reasons[reason]?.[1];

/** Conditions of our kinds, with the meaning of their reasons. */
export const conditionsOf = (
  kind: string,
  conditions: readonly Condition[] | undefined,
): ExplainDocument['conditions'] => coreConditions(conditions, (type, reason) => meaningOf(kind, type, reason));

export type Facts = ExplainDocument['facts'];

/** Facts by name, without undefined ones. */
export const definedFacts = (facts: Readonly<Record<string, string | undefined>>): Facts =>
  Object.entries(facts).flatMap(([what, is]) => (is === undefined ? [] : [{ what, is }]));

interface CoreCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
}

/** Conditions of a Node or a Pod. */
export const coreConditions = (
  conditions: readonly CoreCondition[] | undefined,
  meaning: (type: string, reason: string) => string | undefined = () => undefined,
): ExplainDocument['conditions'] =>
  (conditions ?? []).map(({ type, status, reason, message, lastTransitionTime }) => ({
    type,
    status,
    reason: reason ?? '',
    means: meaning(type, reason ?? '') ?? null,
    message: message ?? '',
    since: lastTransitionTime ?? '',
  }));
