import { badRequest } from '../errors/api-error.ts';

/** Built-in kinds with their own field labels; the other built-in kinds share one rule, with another error text. */
const kindsWithFieldLabels = new Set([
  'v1/Pod',
  'v1/Node',
  'v1/Namespace',
  'v1/Event',
  'v1/Secret',
  'v1/Service',
  'v1/ReplicationController',
  'events.k8s.io/v1/Event',
  'certificates.k8s.io/v1/CertificateSigningRequest',
]);

/** Of those, cluster-scoped kinds do not have metadata.namespace; the shared rule has it for all. */
const withoutNamespace = new Set(['v1/Node', 'v1/Namespace', 'certificates.k8s.io/v1/CertificateSigningRequest']);

const builtinGroups = new Set([
  '',
  'admissionregistration.k8s.io',
  'apiextensions.k8s.io',
  'apiregistration.k8s.io',
  'apps',
  'authentication.k8s.io',
  'authorization.k8s.io',
  'autoscaling',
  'batch',
  'certificates.k8s.io',
  'coordination.k8s.io',
  'discovery.k8s.io',
  'events.k8s.io',
  'flowcontrol.apiserver.k8s.io',
  'networking.k8s.io',
  'node.k8s.io',
  'policy',
  'rbac.authorization.k8s.io',
  'resource.k8s.io',
  'scheduling.k8s.io',
  'storage.k8s.io',
]);

const groupOf = (apiVersion: string): string => (apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '');

/** Throws if this kind does not support a field of the selector. */
export const assertSelectable = (
  requirements: readonly FieldRequirement[],
  known: readonly string[] | Readonly<Record<string, string>>,
  apiVersion: string,
  kind: string,
): void => {
  const key = `${apiVersion}/${kind}`;
  const fields = new Set(Array.isArray(known) ? known : Object.keys(known));
  if (withoutNamespace.has(key)) fields.delete('metadata.namespace');
  const unknown = requirements.find(({ field }) => !fields.has(field));
  if (unknown === undefined) return;
  if (kindsWithFieldLabels.has(key) || !builtinGroups.has(groupOf(apiVersion))) {
    throw badRequest(`field label not supported: ${unknown.field}`);
  }
  throw badRequest(
    `${JSON.stringify(unknown.field)} is not a known field selector: only "metadata.name", "metadata.namespace"`,
  );
};

export interface FieldRequirement {
  field: string;
  operator: '=' | '!=';
  value: string;
}

/** Splits at commas without a backslash before them. */
const terms = (text: string): string[] => {
  const found: string[] = [];
  let start = 0;
  for (let index = 0; index < text.length; index += 1) {
    if (text[index] === '\\') {
      index += 1;
    } else if (text[index] === ',') {
      found.push(text.slice(start, index));
      start = index + 1;
    }
  }
  return [...found, text.slice(start)].filter((term) => term !== '').sort();
};

const unescaped = (text: string): string => {
  let value = '';
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index] ?? '';
    if (character === ',' || character === '=') {
      throw badRequest(`invalid field selector: unescaped character in value: ${character.charCodeAt(0)}`);
    }
    if (character !== '\\') {
      value += character;
      continue;
    }
    index += 1;
    const escaped = String.fromCodePoint(...[text.codePointAt(index)].filter((code) => code !== undefined));
    if (escaped === '' || !'\\,='.includes(escaped)) {
      throw badRequest(`invalid field selector: invalid escape sequence: \\${escaped}`);
    }
    value += escaped;
  }
  return value;
};

/**
 * The `fieldSelector` of a query, sorted like in the real server, so that of several errors the same one is reported. Throws a 400 with the
 * parser's text.
 */
export const parseFieldSelector = (text: string): FieldRequirement[] =>
  terms(text).map((term) => {
    const operator = /!=|==|=/.exec(term);
    if (operator === null) throw badRequest(`invalid selector: '${text}'; can't understand '${term}'`);
    return {
      field: term.slice(0, operator.index),
      operator: operator[0] === '!=' ? '!=' : '=',
      value: unescaped(term.slice(operator.index + operator[0].length)),
    };
  });

export const printFieldSelector = (requirements: readonly FieldRequirement[]): string =>
  requirements.map(({ field, operator, value }) => `${field}${operator}${value.replace(/[\\,=]/g, '\\$&')}`).join(',');

/** A missing field counts as empty. */
export const matchesFields = (
  requirements: readonly FieldRequirement[],
  fields: Readonly<Record<string, string>>,
): boolean =>
  requirements.every(
    ({ field, operator, value }) =>
      (operator === '=') === ((Object.hasOwn(fields, field) ? fields[field] : '') === value),
  );
