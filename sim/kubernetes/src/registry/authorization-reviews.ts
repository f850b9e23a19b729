import { nodeNameOf, type User } from '../authentication/user.ts';
import type { Attributes, RuleResolver } from '../authorization/authorizer.ts';
import { joinErrors } from '../authorization/rbac-authorizer.ts';
import { ApiError, badRequest } from '../errors/api-error.ts';
import { type Cause, invalid } from '../errors/field-errors.ts';
import { isObject, type Json, type KubeObject, type ObjectMeta } from '../object.ts';
import type { Resource, WriteContext } from '../resource.ts';

type Review = NonNullable<Resource['review']>;
type Fields = Record<string, unknown>;

const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const fields = (value: unknown): Fields | undefined => (isObject(value) ? value : undefined);
const strings = (value: unknown): string[] => (Array.isArray(value) ? value.map(text) : []);

/** The real server prints its internal type here, which has no JSON names. */
const goAttributes = (attributes: Fields): Json => ({ Path: text(attributes['path']), Verb: text(attributes['verb']) });

const attributeCauses = ({ resourceAttributes, nonResourceAttributes }: Fields): Cause[] => {
  const [resource, other] = [fields(resourceAttributes), fields(nonResourceAttributes)];
  if (resource && other) {
    const why = 'cannot be specified in combination with resourceAttributes';
    return [invalid('spec.nonResourceAttributes', goAttributes(other), why)];
  }
  if (resource || other) return [];
  const why = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';
  return [invalid('spec.resourceAttributes', null, why)];
};

const userCauses = (spec: Fields): Cause[] =>
  text(spec['user']) === '' && strings(spec['groups']).length === 0
    ? [invalid('spec.user', '', 'at least one of user or group must be specified')]
    : [];

const selectorCauses = (spec: Fields): Cause[] =>
  (['fieldSelector', 'labelSelector'] as const).flatMap((name) => {
    const selector = fields(fields(spec['resourceAttributes'])?.[name]);
    if (!selector) return [];
    const field = `spec.resourceAttributes.${name}`;
    const raw = text(selector['rawSelector']);
    const requirements = Array.isArray(selector['requirements']) ? selector['requirements'] : [];
    if (raw !== '' && requirements.length > 0) {
      return [invalid(`${field}.rawSelector`, raw, 'may not specified at the same time as requirements')];
    }
    if (raw !== '' || requirements.length > 0) return [];
    const message = `Required value: when ${field} is specified, requirements or rawSelector is required`;
    return [{ reason: 'FieldValueRequired', message, field: `${field}.requirements` }];
  });

/** Go clients send `null` for an unset creation time. */
const metadataCauses = (object: KubeObject, permitted: readonly string[], why: string): Cause[] => {
  const left = Object.entries(object.metadata).filter(
    ([key, value]) => value !== null && value !== undefined && ![...permitted, 'managedFields'].includes(key),
  );
  return left.length === 0 ? [] : [invalid('metadata', object.metadata as unknown as Json, why)];
};

const localCauses = (object: KubeObject, spec: Fields): Cause[] => {
  const resource = fields(spec['resourceAttributes']);
  const other = fields(spec['nonResourceAttributes']);
  const namespace = text(resource?.['namespace']);
  const path = 'spec.resourceAttributes.namespace';
  return [
    ...(resource && namespace !== (object.metadata.namespace ?? '')
      ? [invalid(path, namespace, 'must match metadata.namespace')]
      : []),
    ...(other
      ? [invalid('spec.nonResourceAttributes', goAttributes(other), 'disallowed on this kind of request')]
      : []),
  ];
};

const throwIfInvalid = (causes: readonly Cause[]): void => {
  if (causes.length === 0) return;
  const texts = causes.map(({ field, message }) => `${field}: ${message}`);
  const list = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`;
  // The kind is empty because the real server reads it from an object that no longer has one.
  throw new ApiError(422, 'Invalid', `.authorization.k8s.io "" is invalid: ${list}`, {
    group: 'authorization.k8s.io',
    causes: causes.map(({ reason, message, field }) => ({ reason, message, field })),
  });
};

const operators: Readonly<Record<string, (key: string, list: string[]) => string>> = {
  In: (key, list) => (list.length === 1 ? `${key}=${list[0]}` : `${key} in (${list.join(',')})`),
  NotIn: (key, list) => (list.length === 1 ? `${key}!=${list[0]}` : `${key} notin (${list.join(',')})`),
  Exists: (key) => key,
  DoesNotExist: (key) => `!${key}`,
};

/** A selector as in a list request. Invalid requirements are dropped, which asks for more and never for less. */
const selectorText = (selector: Fields | undefined): string => {
  const requirements = Array.isArray(selector?.['requirements']) ? selector['requirements'].filter(isObject) : [];
  const terms = requirements.flatMap(
    ({ key, operator, values }) => operators[text(operator)]?.(text(key), strings(values)) ?? [],
  );
  return text(selector?.['rawSelector']) || terms.join(',');
};

const attributesOf = (user: User, spec: Fields): Attributes => {
  const resource = fields(spec['resourceAttributes']);
  const other = fields(spec['nonResourceAttributes']) ?? {};
  const asked = resource ?? {};
  return {
    user,
    verb: text((resource ?? other)['verb']),
    ...(resource ? {} : { nonResourcePath: text(other['path']) }),
    group: text(asked['group']),
    version: text(asked['version']) || '*',
    resource: text(asked['resource']),
    subresource: text(asked['subresource']),
    namespace: text(asked['namespace']),
    name: text(asked['name']),
    fieldSelector: selectorText(fields(asked['fieldSelector'])),
    labelSelector: selectorText(fields(asked['labelSelector'])),
  };
};

const reviewAccess = (object: KubeObject, user: User, spec: Fields, { api }: WriteContext): KubeObject => {
  const { allowed, reason } = api.authorize(attributesOf(user, spec));
  return { ...object, status: { allowed, ...(reason === '' ? {} : { reason }) } };
};

const extraOf = (value: unknown): Record<string, string[]> =>
  Object.fromEntries(Object.entries(fields(value) ?? {}).map(([key, list]) => [key, strings(list)]));

const subjectOf = (spec: Fields): User => ({
  name: text(spec['user']),
  ...(text(spec['uid']) === '' ? {} : { uid: text(spec['uid']) }),
  groups: strings(spec['groups']),
  extra: extraOf(spec['extra']),
});

const specOf = (object: KubeObject): Fields => fields(object['spec']) ?? {};

const selfSubjectAccessReview: Review = (object, context) => {
  const spec = specOf(object);
  throwIfInvalid([...attributeCauses(spec), ...selectorCauses(spec), ...metadataCauses(object, [], 'must be empty')]);
  return reviewAccess(object, context.user, spec, context);
};

const subjectAccessReview: Review = (object, context) => {
  const spec = specOf(object);
  throwIfInvalid([
    ...attributeCauses(spec),
    ...userCauses(spec),
    ...selectorCauses(spec),
    ...metadataCauses(object, [], 'must be empty'),
  ]);
  return reviewAccess(object, subjectOf(spec), spec, context);
};

const localSubjectAccessReview: Review = (object, context) => {
  const spec = specOf(object);
  throwIfInvalid([
    ...attributeCauses(spec),
    ...userCauses(spec),
    ...selectorCauses(spec),
    ...metadataCauses(object, ['namespace'], 'must be empty except for namespace'),
    ...localCauses(object, spec),
  ]);
  return reviewAccess(object, subjectOf(spec), spec, context);
};

export const accessReviews: Record<string, Review> = {
  selfsubjectaccessreviews: selfSubjectAccessReview,
  subjectaccessreviews: subjectAccessReview,
  localsubjectaccessreviews: localSubjectAccessReview,
};

interface ResourceRule {
  verbs: string[];
  apiGroups: string[];
  resources: string[];
}

const paths = [
  '/api',
  '/api/*',
  '/apis',
  '/apis/*',
  '/healthz',
  '/livez',
  '/openapi',
  '/openapi/*',
  '/readyz',
  '/version',
];

interface RulesStatus {
  resourceRules: object[];
  nonResourceRules: object[];
  incomplete: boolean;
  evaluationError?: string;
}

/** The rules of the roles. The rights that the Node authorizer adds cannot be listed. */
const resolvedRules = (roles: RuleResolver, user: User, namespace: string): RulesStatus => {
  const { rules, problems } = roles.rulesFor(user, namespace);
  const isNode = nodeNameOf(user) !== undefined;
  const unsaid = [...(isNode ? ['node authorizer does not support user rule resolution'] : []), ...problems];
  return {
    resourceRules: rules
      .filter(({ resources }) => resources.length > 0)
      .map(({ verbs, apiGroups, resources, resourceNames }) => ({
        verbs,
        apiGroups,
        resources,
        ...(resourceNames.length === 0 ? {} : { resourceNames }),
      })),
    nonResourceRules: rules
      .filter(({ nonResourceURLs }) => nonResourceURLs.length > 0)
      .map(({ verbs, nonResourceURLs }) => ({ verbs, nonResourceURLs })),
    incomplete: isNode,
    ...(unsaid.length === 0 ? {} : { evaluationError: joinErrors(unsaid) }),
  };
};

/**
 * Other authorizers answer questions but do not list rules, so this asks about every served kind. It does not find rules with
 * resourceNames, so the answer is marked incomplete; a user with all rights gets one rule, and a complete answer.
 */
const probedRules = (context: WriteContext, namespace: string): RulesStatus => {
  const may = createProbe(context, namespace);
  const everything = may({ verb: '*', group: '*', resource: '*' });
  const everyPath = may({ verb: '*', nonResourcePath: '*' });
  return {
    resourceRules: everything ? [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }] : resourceRules(context, may),
    nonResourceRules: everyPath ? [{ verbs: ['*'], nonResourceURLs: ['*'] }] : pathRules(may),
    incomplete: !everything,
  };
};

export const rulesReview: NonNullable<Resource['review']> = (object, context) => {
  const spec = isObject(object['spec']) ? object['spec'] : {};
  const namespace = typeof spec['namespace'] === 'string' ? spec['namespace'] : '';
  if (namespace === '') throw badRequest('no namespace on request');
  const { ruleResolver } = context.api;
  return {
    kind: 'SelfSubjectRulesReview',
    apiVersion: 'authorization.k8s.io/v1',
    metadata: {} as ObjectMeta,
    spec: {},
    status: ruleResolver ? resolvedRules(ruleResolver, context.user, namespace) : probedRules(context, namespace),
  };
};

type Probe = (question: Partial<Attributes>) => boolean;

const createProbe =
  ({ api, user }: WriteContext, namespace: string): Probe =>
  (question) =>
    api.authorize({
      user,
      verb: '',
      group: '',
      version: '*',
      resource: '',
      subresource: '',
      namespace,
      name: '',
      fieldSelector: '',
      labelSelector: '',
      ...question,
    }).allowed;

const resourceRules = ({ api }: WriteContext, may: Probe): ResourceRule[] =>
  api.resources().flatMap(({ group, plural, namespaced, verbs, subresources }) => {
    const endpoints = [{ name: '', verbs }, ...subresources];
    return endpoints.flatMap((endpoint) => {
      const scope = namespaced ? {} : { namespace: '' };
      const question = { group, resource: plural, subresource: endpoint.name, ...scope };
      const allowed = endpoint.verbs.filter((verb) => may({ ...question, verb }));
      const resource = endpoint.name === '' ? plural : `${plural}/${endpoint.name}`;
      return allowed.length === 0 ? [] : [{ verbs: allowed, apiGroups: [group], resources: [resource] }];
    });
  });

const pathRules = (may: Probe): { verbs: string[]; nonResourceURLs: string[] }[] => {
  const allowed = paths.filter((nonResourcePath) => may({ verb: 'get', nonResourcePath }));
  return allowed.length === 0 ? [] : [{ verbs: ['get'], nonResourceURLs: allowed }];
};
