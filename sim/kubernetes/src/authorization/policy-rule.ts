import type { KubeObject } from '../object.ts';
import { type Fields, listOf, objectsOf, textOf } from '../unstructured.ts';
import type { Attributes } from './authorizer.ts';

/** One rule of a Role or ClusterRole. Rules are additive: what no rule allows is refused. */
export interface PolicyRule {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames: readonly string[];
  readonly nonResourceURLs: readonly string[];
}

const texts = (value: unknown): string[] => listOf(value).map(textOf);

export const policyRule = (fields: Fields): PolicyRule => ({
  verbs: texts(fields['verbs']),
  apiGroups: texts(fields['apiGroups']),
  resources: texts(fields['resources']),
  resourceNames: texts(fields['resourceNames']),
  nonResourceURLs: texts(fields['nonResourceURLs']),
});

export const rulesIn = (role: KubeObject): PolicyRule[] => objectsOf(role['rules']).map(policyRule);

const has = (list: readonly string[], wanted: string): boolean => list.includes('*') || list.includes(wanted);

/** `/logs/*` matches every path below `/logs/`. A star is a wildcard only at the end. */
export const urlCovers = (pattern: string, path: string): boolean =>
  pattern === path || (pattern.endsWith('*') && path.startsWith(pattern.replace(/\*+$/, '')));

/** `pods`, `pods/log`, `*` and, for subresources only, `*` before the slash. `pods` does not match `pods/log`. */
const resourceMatches = (rule: PolicyRule, { resource, subresource }: Attributes): boolean =>
  subresource === ''
    ? has(rule.resources, resource)
    : has(rule.resources, `${resource}/${subresource}`) || rule.resources.includes(`*/${subresource}`);

export const ruleAllows = (rule: PolicyRule, attributes: Attributes): boolean => {
  const { verb, group, name, nonResourcePath } = attributes;
  if (!has(rule.verbs, verb)) return false;
  if (nonResourcePath !== undefined) return rule.nonResourceURLs.some((pattern) => urlCovers(pattern, nonResourcePath));
  return (
    has(rule.apiGroups, group) &&
    resourceMatches(rule, attributes) &&
    (rule.resourceNames.length === 0 || rule.resourceNames.includes(name))
  );
};
