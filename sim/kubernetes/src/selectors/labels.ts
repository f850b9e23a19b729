import { badRequest } from '../status/api-error.ts';
import { parseLabelRequirements } from './label-parser.ts';
import { type LabelOperator, type LabelRequirement, requirementMatches } from './label-requirement.ts';

export type Labels = Record<string, string>;

/** metav1.LabelSelector, as it stands in objects. */
export interface LabelSelector {
  matchLabels?: Labels;
  matchExpressions?: { key: string; operator: string; values?: string[] }[];
}

/** The `labelSelector` of a query. Throws a 400 with the parser's words; the empty text matches everything. */
export const parseLabelSelector = (text: string): ((labels: Labels | undefined) => boolean) => {
  const requirements = parseLabelRequirements(text);
  return (labels = {}) => requirements.every((requirement) => requirementMatches(requirement, labels));
};

const operators: Record<string, LabelOperator> = { In: 'in', NotIn: 'notin', Exists: 'exists', DoesNotExist: '!' };

/** The conditions of a selector, sorted by key as the real server prints them. */
export const requirementsOf = (selector: LabelSelector): LabelRequirement[] => {
  const expressions = (selector.matchExpressions ?? []).map(({ key, operator: name, values = [] }) => {
    const operator = Object.hasOwn(operators, name) ? operators[name] : undefined;
    if (operator === undefined) throw badRequest(`${JSON.stringify(name)} is not a valid label selector operator`);
    return { key, operator, values: [...values].sort() };
  });
  const exact = Object.entries(selector.matchLabels ?? {}).map(([key, value]) => ({
    key,
    operator: '=' as const,
    values: [value],
  }));
  return [...exact, ...expressions].sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
};

/** A selector without any condition matches everything. */
export const labelSelectorMatches = (selector: LabelSelector, labels: Labels | undefined): boolean =>
  requirementsOf(selector).every((requirement) => requirementMatches(requirement, labels ?? {}));
