import { type Cause, forbidden, invalid, required, tooLong } from '../../errors/field-errors.ts';
import { equal, type KubeObject, set } from '../../object.ts';
import { plainStrategy, type Strategy } from '../../resource.ts';
import { textOf, textsOf } from '../../unstructured.ts';
import { validateKindMetadataUpdate, validateMetadata } from '../validation/metadata.ts';
import { configMapKey } from '../validation/names.ts';

/** Why Go cannot parse a text as a JSON object, in its words; undefined when it can. */
export const goJsonProblem = (text: string): string | undefined => {
  if (text.trim() === '') return 'unexpected end of JSON input';
  try {
    const value: unknown = JSON.parse(text);
    if (value === null || (typeof value === 'object' && !Array.isArray(value))) return undefined;
    const type = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
    return `json: cannot unmarshal ${type} into Go value of type map[string]interface {}`;
  } catch {
    return syntaxProblem(text);
  }
};

/** Go names the first invalid character. Only the start of the text is examined here: the common mistakes. */
const syntaxProblem = (text: string): string => {
  const trimmed = text.trimStart();
  const [first = '', second = ''] = [trimmed[0], trimmed.slice(1).trimStart()[0]];
  if (!/[{["\-0-9tfn]/.test(first)) return `invalid character '${first}' looking for beginning of value`;
  if (first === '{' && second !== '' && second !== '"') {
    return `invalid character '${second}' looking for beginning of object key string`;
  }
  return 'unexpected end of JSON input';
};

const resource = { group: '', plural: 'secrets', kind: 'Secret', namespaced: true };

/** Of all values together, in Secrets and ConfigMaps. */
export const maxBytes = 1024 * 1024;

const decoded = (base64: string): Buffer => Buffer.from(base64, 'base64');

const validateDockerConfig = (data: Record<string, string>, key: string): Cause[] => {
  const value = data[key];
  if (value === undefined) return [required(`data[${key}]`)];
  const problem = goJsonProblem(decoded(value).toString());
  return problem === undefined ? [] : [invalid(`data[${key}]`, '<secret contents redacted>', problem)];
};

const needs = (data: Record<string, string>, ...keys: string[]): Cause[] =>
  keys.filter((key) => data[key] === undefined).map((key) => required(`data[${key}]`));

const accountAnnotation = 'kubernetes.io/service-account.name';

const validateType = (secret: KubeObject, data: Record<string, string>): Cause[] => {
  switch (secret['type']) {
    case 'kubernetes.io/service-account-token':
      return secret.metadata.annotations?.[accountAnnotation]
        ? []
        : [required(`metadata.annotations[${accountAnnotation}]`)];
    case 'kubernetes.io/dockercfg':
      return validateDockerConfig(data, '.dockercfg');
    case 'kubernetes.io/dockerconfigjson':
      return validateDockerConfig(data, '.dockerconfigjson');
    case 'kubernetes.io/basic-auth': {
      const missing = needs(data, 'username', 'password');
      return missing.length === 2 ? missing : [];
    }
    case 'kubernetes.io/ssh-auth':
      return data['ssh-privatekey'] ? [] : [required('data[ssh-privatekey]')];
    case 'kubernetes.io/tls':
      return needs(data, 'tls.crt', 'tls.key');
    default:
      return [];
  }
};

const validateSecret = (secret: KubeObject): Cause[] => {
  const data = textsOf(secret['data']);
  const size = Object.values(data).reduce((sum, value) => sum + decoded(value).length, 0);
  return [
    ...Object.keys(data).flatMap((key) => configMapKey(key).map((text) => invalid(`data[${key}]`, key, text))),
    ...(size > maxBytes ? [tooLong('data', maxBytes)] : []),
    ...validateType(secret, data),
  ];
};

/** An immutable object stays immutable, with all its data. */
export const validateImmutable = (object: KubeObject, old: KubeObject, fields: readonly string[]): Cause[] => {
  if (old['immutable'] !== true) return [];
  const why = 'field is immutable when `immutable` is set';
  return [
    ...(object['immutable'] === true ? [] : [forbidden('immutable', why)]),
    ...fields.filter((field) => !equal(object[field] ?? {}, old[field] ?? {})).map((field) => forbidden(field, why)),
  ];
};

export const secretStrategy: Strategy = {
  ...plainStrategy,
  applyDefaults: (secret) => {
    if (textOf(secret['type']) === '') secret['type'] = 'Opaque';
    const given = Object.entries(textsOf(secret['stringData']));
    delete secret['stringData'];
    if (given.length === 0) return;
    const data: Record<string, unknown> = { ...textsOf(secret['data']) };
    for (const [key, text] of given) set(data, key, Buffer.from(text).toString('base64'));
    secret['data'] = data;
  },
  validate: (secret, old) =>
    old
      ? [
          ...validateKindMetadataUpdate(secret, old, resource),
          ...(secret['type'] === old['type'] ? [] : [invalid('type', textOf(secret['type']), 'field is immutable')]),
          ...validateImmutable(secret, old, ['data']),
          ...validateMetadata(secret, resource),
          ...validateSecret(secret),
        ]
      : validateSecret(secret),
  selectableFields: (secret) => ({ type: textOf(secret['type']) }),
};
