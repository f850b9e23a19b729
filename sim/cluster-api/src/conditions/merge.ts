import type { Condition, ConditionStatus, ConditionUpdate } from '@tartan/kube';
import { below } from './below.ts';

/** What a condition means for the whole that it is part of. */
export type Weight = 'issue' | 'unknown' | 'fine';

/** A condition as it counts. */
export interface Part extends Pick<Condition, 'type' | 'status' | 'reason' | 'message'> {
  /** What it is called, if not by its type. */
  label?: string;
  /** Overrides what its status says. */
  weight?: Weight;
}

export interface Merge {
  /** Of the condition that they become. */
  type: string;
  reasons: Readonly<Record<Weight, string>>;
  /** Types for which True is the bad news. */
  negative?: readonly string[];
  /** Whether True of the whole is bad news. */
  targetIsNegative?: boolean;
}

export type Weighed<P extends Part> = P & { readonly weight: Weight };

const weigh = ({ type, status, weight }: Part, negative: readonly string[]): Weight => {
  if (weight !== undefined) return weight;
  if (status === 'Unknown') return 'unknown';
  return (status === 'True') === negative.includes(type) ? 'issue' : 'fine';
};

const statusOf = (worst: Weight, targetIsNegative: boolean): ConditionStatus => {
  if (worst === 'unknown') return 'Unknown';
  return (worst === 'fine') === targetIsNegative ? 'False' : 'True';
};

/** The worst decides, and all that are not fine say why. How is for `tell`. */
export const mergeWith = <P extends Part>(
  parts: readonly P[],
  { type, reasons, negative = [], targetIsNegative = false }: Merge,
  tell: (told: readonly Weighed<P>[]) => string,
): ConditionUpdate => {
  const weighed = parts.map((part) => ({ ...part, weight: weigh(part, negative) }));
  const worst = (['issue', 'unknown'] as const).find((each) => weighed.some(({ weight }) => weight === each)) ?? 'fine';
  const told = weighed.filter(({ weight, message }) => weight !== 'fine' || (worst === 'fine' && message !== ''));
  return { type, status: statusOf(worst, targetIsNegative), reason: reasons[worst], message: tell(told) };
};

const line = ({ label, type, message, reason }: Part): string => `* ${label ?? type}:${below(message || reason)}`;

/** Several conditions of one object as one. */
export const mergeConditions = (parts: readonly Part[], merge: Merge): ConditionUpdate =>
  mergeWith(parts, merge, (told) => told.map(line).join('\n'));

/** That condition of these, or one that says that nobody has said anything yet. */
export const partOf = (conditions: readonly Condition[] | undefined, type: string): Part =>
  conditions?.find((condition) => condition.type === type) ?? {
    type,
    status: 'Unknown',
    reason: 'NotYetReported',
    message: `Condition ${type} not yet reported`,
  };
