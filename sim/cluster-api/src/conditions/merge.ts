import type { Condition, ConditionStatus, ConditionUpdate } from '@tartan/kube';

/** What a condition means for the whole that it is part of. */
type Weight = 'issue' | 'unknown' | 'fine';

/** A condition as it counts: its owner is named when there are several. */
export interface Part extends Pick<Condition, 'type' | 'status' | 'reason' | 'message'> {
  /** `Machine a`. */
  owner?: string;
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

const weigh = ({ type, status, weight }: Part, negative: readonly string[]): Weight => {
  if (weight !== undefined) return weight;
  if (status === 'Unknown') return 'unknown';
  return (status === 'True') === negative.includes(type) ? 'issue' : 'fine';
};

const statusOf = (worst: Weight, targetIsNegative: boolean): ConditionStatus => {
  if (worst === 'unknown') return 'Unknown';
  return (worst === 'fine') === targetIsNegative ? 'False' : 'True';
};

/** Several lines stand below their heading, further to the right. */
const below = (text: string): string => (text.includes('\n') ? `\n${text.replaceAll(/^/gm, '  ')}` : ` ${text}`);

const line = ({ owner, type, message, reason }: Part): string => `* ${owner ?? type}:${below(message || reason)}`;

/** Several conditions as one: the worst decides, and all that are not fine say why. */
export const mergeConditions = (parts: readonly Part[], merge: Merge): ConditionUpdate => {
  const { type, reasons, negative = [], targetIsNegative = false } = merge;
  const weighed = parts.map((part) => ({ part, weight: weigh(part, negative) }));
  const worst =
    (['issue', 'unknown'] as const).find((weight) => weighed.some((each) => each.weight === weight)) ?? 'fine';
  const told = weighed.filter(({ weight, part }) => weight !== 'fine' || (worst === 'fine' && part.message !== ''));
  return {
    type,
    status: statusOf(worst, targetIsNegative),
    reason: reasons[worst],
    message: told.map(({ part }) => line(part)).join('\n'),
  };
};

/** That condition of these, or one that says that nobody has said anything yet. */
export const partOf = (conditions: readonly Condition[] | undefined, type: string): Part =>
  conditions?.find((condition) => condition.type === type) ?? {
    type,
    status: 'Unknown',
    reason: 'NotYetReported',
    message: `Condition ${type} not yet reported`,
  };
