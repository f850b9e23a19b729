import type { Attributes } from '../auth/authorizer.ts';
import type { User } from '../auth/user.ts';
import { isObject, type Json, type KubeObject } from '../object.ts';
import type { Resource, WriteContext } from '../resource.ts';
import { ApiError } from '../status/api-error.ts';
import { type Cause, invalid } from '../status/cause.ts';

type Review = NonNullable<Resource['review']>;
type Fields = Record<string, unknown>;

const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const fields = (value: unknown): Fields | undefined => (isObject(value) ? value : undefined);
const strings = (value: unknown): string[] => (Array.isArray(value) ? value.map(text) : []);

/** The real server prints its internal type here, whose fields have no JSON names. */
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

/** `null` is how Go clients write a creation time that is not set. */
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

const refuse = (causes: readonly Cause[]): void => {
  if (causes.length === 0) return;
  const texts = causes.map(({ field, message }) => `${field}: ${message}`);
  const list = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`;
  // The kind is empty because the real server reads it from an object that has lost it by then.
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

/** A selector as a list request would carry it. What is not understood is left out, which asks for more and never for less. */
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

const answer = (object: KubeObject, user: User, spec: Fields, { api }: WriteContext): KubeObject => {
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
  refuse([...attributeCauses(spec), ...selectorCauses(spec), ...metadataCauses(object, [], 'must be empty')]);
  return answer(object, context.user, spec, context);
};

const subjectAccessReview: Review = (object, context) => {
  const spec = specOf(object);
  refuse([
    ...attributeCauses(spec),
    ...userCauses(spec),
    ...selectorCauses(spec),
    ...metadataCauses(object, [], 'must be empty'),
  ]);
  return answer(object, subjectOf(spec), spec, context);
};

const localSubjectAccessReview: Review = (object, context) => {
  const spec = specOf(object);
  refuse([
    ...attributeCauses(spec),
    ...userCauses(spec),
    ...selectorCauses(spec),
    ...metadataCauses(object, ['namespace'], 'must be empty except for namespace'),
    ...localCauses(object, spec),
  ]);
  return answer(object, subjectOf(spec), spec, context);
};

export const accessReviews: Record<string, Review> = {
  selfsubjectaccessreviews: selfSubjectAccessReview,
  subjectaccessreviews: subjectAccessReview,
  localsubjectaccessreviews: localSubjectAccessReview,
};
