import { conditionsByKind, type ConditionWords } from '@tartan/api';
import type { Condition } from '@tartan/kube';
import type { ExplainDocument } from './document.ts';

const words: Readonly<Record<string, Readonly<Record<string, ConditionWords>>>> = conditionsByKind;

/** What a reason means, in the words that have one home. Undefined for those of others. */
export const meaningOf = (kind: string, type: string, reason: string): string | undefined =>
  words[kind]?.[type]?.reasons[reason]?.[1];

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
