import { KubeError } from '../errors/kube-error.ts';
import { isRecord, type JsonRecord } from '../json.ts';
import { apiVersionOf, type KubeObject, type Live, type Resource } from '../objects/object.ts';

/** Validates the metadata of received objects. Valid objects are passed on unchanged, with unknown fields. */

const isText = (value: unknown): boolean => typeof value === 'string';
const isName = (value: unknown): boolean => typeof value === 'string' && value !== '';
const isNumber = (value: unknown): boolean => typeof value === 'number';
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText);
const isTextMap = (value: unknown): boolean => {
  if (!isRecord(value)) return false;
  for (const key in value) if (typeof value[key] !== 'string') return false;
  return true;
};
const isOwners = (value: unknown): boolean =>
  Array.isArray(value) &&
  value.every(
    (owner: unknown) =>
      isRecord(owner) &&
      isName(owner['name']) &&
      isName(owner['uid']) &&
      isText(owner['kind']) &&
      isText(owner['apiVersion']),
  );

const required = { name: isName, uid: isText, resourceVersion: isText, creationTimestamp: isText };
const optional = {
  namespace: isText,
  generateName: isText,
  generation: isNumber,
  deletionTimestamp: isText,
  deletionGracePeriodSeconds: isNumber,
  labels: isTextMap,
  annotations: isTextMap,
  finalizers: isTexts,
  ownerReferences: isOwners,
};
const requiredFields = Object.entries(required);
const optionalFields = Object.entries(optional);

/** The first invalid field of `metadata`. */
const wrongField = (metadata: JsonRecord): string | undefined =>
  requiredFields.find(([field, fits]) => !fits(metadata[field]))?.[0] ??
  optionalFields.find(([field, fits]) => metadata[field] !== undefined && !fits(metadata[field]))?.[0];

/** Why the value is not a valid object of this kind; undefined if it is. */
const problemOf = (value: unknown, kind: string, apiVersion: string): string | undefined => {
  if (!isRecord(value)) return 'it is no object';
  if (value['kind'] !== kind || value['apiVersion'] !== apiVersion) {
    return `it is a ${String(value['apiVersion'])} ${String(value['kind'])}, not a ${apiVersion} ${kind}`;
  }
  const { metadata } = value;
  if (!isRecord(metadata)) return 'it has no metadata';
  const field = wrongField(metadata);
  return field === undefined ? undefined : `its metadata.${field} is missing or of the wrong type`;
};

/** Checks the metadata only. For the rest the type trusts the server's schema validation. */
const isLive = <T extends KubeObject>(value: unknown, problem: string | undefined): value is Live<T> =>
  problem === undefined && isRecord(value);

const malformed = (what: string, problem: string): KubeError =>
  new KubeError('malformed', `Cannot ${what}: the answer is not what a Kubernetes API promises: ${problem}`);

export const parseObject = <T extends KubeObject>(what: string, resource: Resource<T>, value: unknown): Live<T> => {
  const problem = problemOf(value, resource.kind, apiVersionOf(resource));
  if (!isLive<T>(value, problem)) throw malformed(what, problem ?? '');
  return value;
};

/** Servers omit kind and apiVersion in list items. */
export const parseItem = <T extends KubeObject>(what: string, resource: Resource<T>, value: unknown): Live<T> => {
  if (isRecord(value)) {
    value['apiVersion'] ??= apiVersionOf(resource);
    value['kind'] ??= resource.kind;
  }
  return parseObject(what, resource, value);
};

export interface Page {
  items: readonly unknown[];
  resourceVersion: string;
  /** Empty on the last page. */
  continueToken: string;
}

export const parsePage = (what: string, value: unknown): Page => {
  if (!isRecord(value) || !isRecord(value['metadata'])) throw malformed(what, 'it is no list');
  // Go writes an empty list as null.
  const items: unknown = value['items'] ?? [];
  if (!Array.isArray(items)) throw malformed(what, 'its items are no list');
  const { resourceVersion, continue: token = '' } = value['metadata'];
  if (typeof resourceVersion !== 'string' || resourceVersion === '') throw malformed(what, 'it has no resourceVersion');
  if (typeof token !== 'string') throw malformed(what, 'its continue token is no text');
  return { items, resourceVersion, continueToken: token };
};
