import { type Cause, invalid, notSupported, required } from '../errors/field-errors.ts';
import { equal, type Json, type KubeObject } from '../object.ts';
import { plainStrategy, type Strategy } from '../resource.ts';
import { childOf, type Fields, fieldsOf, fill, listOf, objectsOf, textOf } from '../unstructured.ts';
import {
  type MetadataOf,
  validateKindMetadataUpdate,
  validateLabelSelector,
  validateMetadata,
} from './validation/metadata.ts';
import { dnsSubdomain, pathSegment } from './validation/names.ts';

const group = 'rbac.authorization.k8s.io';

const validateRule = (rule: Fields, namespaced: boolean, path: string): Cause[] => {
  const has = (key: string): boolean => listOf(rule[key]).length > 0;
  const verbs = has('verbs') ? [] : [required(`${path}.verbs`, 'verbs must contain at least one value')];
  if (has('nonResourceURLs')) {
    const field = `${path}.nonResourceURLs`;
    const urls: Json = listOf(rule['nonResourceURLs']).map(textOf);
    return [
      ...verbs,
      ...(namespaced ? [invalid(field, urls, 'namespaced rules cannot apply to non-resource URLs')] : []),
      ...(has('apiGroups') || has('resources') || has('resourceNames')
        ? [invalid(field, urls, 'rules cannot apply to both regular resources and non-resource URLs')]
        : []),
    ];
  }
  return [
    ...verbs,
    ...(has('apiGroups') ? [] : [required(`${path}.apiGroups`, 'resource rules must supply at least one api group')]),
    ...(has('resources') ? [] : [required(`${path}.resources`, 'resource rules must supply at least one resource')]),
  ];
};

const validateAggregation = (aggregation: unknown): Cause[] => {
  if (aggregation === undefined) return [];
  const path = 'aggregationRule.clusterRoleSelectors';
  const selectors = objectsOf(fieldsOf(aggregation)['clusterRoleSelectors']);
  if (selectors.length === 0) {
    return [required(path, 'at least one clusterRoleSelector required if aggregationRule is non-nil')];
  }
  return selectors.flatMap((selector, index) => {
    const at = `${path}[${index}]`;
    const causes = validateLabelSelector(selector, at);
    return causes.length > 0 ? [...causes, invalid(at, null, 'invalid label selector.')] : [];
  });
};

const validateRole = (role: KubeObject, namespaced: boolean): Cause[] => [
  ...objectsOf(role['rules']).flatMap((rule, index) => validateRule(rule, namespaced, `rules[${index}]`)),
  ...validateAggregation(role['aggregationRule']),
];

const validateSubject = (subject: Fields, namespaced: boolean, path: string): Cause[] => {
  const [name, apiGroup, kind] = [textOf(subject['name']), textOf(subject['apiGroup']), textOf(subject['kind'])];
  const named = name === '' ? [required(`${path}.name`)] : [];
  const inGroup = (expected: string): Cause[] =>
    apiGroup === expected ? [] : [notSupported(`${path}.apiGroup`, apiGroup, [expected])];
  switch (kind) {
    case 'ServiceAccount':
      return [
        ...named,
        ...(name === '' ? [] : dnsSubdomain(name).map((text) => invalid(`${path}.name`, name, text))),
        ...inGroup(''),
        ...(!namespaced && textOf(subject['namespace']) === '' ? [required(`${path}.namespace`)] : []),
      ];
    case 'User':
    case 'Group':
      return [...named, ...inGroup(group)];
    default:
      return [...named, notSupported(`${path}.kind`, kind, ['ServiceAccount', 'User', 'Group'])];
  }
};

/** As the real server prints its internal type. */
const printedRef = (ref: Fields): Json => ({
  APIGroup: textOf(ref['apiGroup']),
  Kind: textOf(ref['kind']),
  Name: textOf(ref['name']),
});

const validateBinding = (binding: KubeObject, namespaced: boolean): Cause[] => {
  const ref = fieldsOf(binding['roleRef']);
  const [apiGroup, kind, name] = [textOf(ref['apiGroup']), textOf(ref['kind']), textOf(ref['name'])];
  const kinds = namespaced ? ['Role', 'ClusterRole'] : ['ClusterRole'];
  return [
    ...(apiGroup === group ? [] : [notSupported('roleRef.apiGroup', apiGroup, [group])]),
    ...(kinds.includes(kind) ? [] : [notSupported('roleRef.kind', kind, kinds)]),
    ...(name === ''
      ? [required('roleRef.name')]
      : pathSegment(name).map((text) => invalid('roleRef.name', name, text))),
    ...objectsOf(binding['subjects']).flatMap((subject, index) =>
      validateSubject(subject, namespaced, `subjects[${index}]`),
    ),
  ];
};

const strategyOf = (
  resource: MetadataOf,
  rules: (object: KubeObject, old: KubeObject | undefined) => Cause[],
  changes: (object: KubeObject, old: KubeObject) => Cause[] = () => [],
): Strategy => ({
  ...plainStrategy,
  allowCreateOnUpdate: true,
  validate: (object, old) =>
    old
      ? [
          ...validateMetadata(object, resource),
          ...rules(object, old),
          ...validateKindMetadataUpdate(object, old, resource),
          ...changes(object, old),
        ]
      : rules(object, old),
});

const defaultBinding = (binding: KubeObject): void => {
  fill(childOf(binding, 'roleRef'), 'apiGroup', group);
  for (const subject of objectsOf(binding['subjects'])) {
    if (subject['kind'] === 'User' || subject['kind'] === 'Group') fill(subject, 'apiGroup', group);
  }
};

/** The roleRef of a binding is immutable. */
const keepRef = (binding: KubeObject, old: KubeObject): Cause[] =>
  equal(binding['roleRef'], old['roleRef'])
    ? []
    : [invalid('roleRef', printedRef(fieldsOf(binding['roleRef'])), 'cannot change roleRef')];

const role = (plural: string, kind: string, namespaced: boolean): Strategy =>
  strategyOf({ group, plural, kind, namespaced }, (object) => validateRole(object, namespaced));

const binding = (plural: string, kind: string, namespaced: boolean): Strategy => ({
  ...strategyOf({ group, plural, kind, namespaced }, (object) => validateBinding(object, namespaced), keepRef),
  applyDefaults: defaultBinding,
});

export const roleStrategy = role('roles', 'Role', true);
export const clusterRoleStrategy = role('clusterroles', 'ClusterRole', false);
export const roleBindingStrategy = binding('rolebindings', 'RoleBinding', true);
export const clusterRoleBindingStrategy = binding('clusterrolebindings', 'ClusterRoleBinding', false);
