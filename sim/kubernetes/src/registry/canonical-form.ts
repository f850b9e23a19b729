import { badRequest } from '../errors/api-error.ts';
import { canonicalMicroTime, canonicalTime, TimeError } from '../go/time.ts';
import { copy, isObject, type Json, type KubeObject, set } from '../object.ts';
import { canonicalQuantity, canonicalResourceQuantity, quantityFormatError } from '../quantity.ts';
import type { Schema } from '../schema/schema.ts';

const alphabet = /^[A-Za-z0-9+/]$/;

/**
 * Base64 as Go's standard decoder reads it: line breaks are skipped, padding is required. Returns the canonical spelling of the bytes, or
 * the offset at which Go fails.
 */
export const canonicalBase64 = (text: string): string | number => {
  const kept = Array.from(text)
    .map((character, index) => ({ character, index }))
    .filter(({ character }) => character !== '\n' && character !== '\r');
  for (let start = 0; start < kept.length; start += 4) {
    const group = kept.slice(start, start + 4);
    const stop = group.findIndex(({ character }) => !alphabet.test(character));
    if (stop === -1) {
      if (group.length === 4) continue;
      return group[0]?.index ?? 0;
    }
    const at = group[stop];
    if (at?.character !== '=' || stop < 2) return at?.index ?? 0;
    if (stop === 2 && group[3] === undefined) return text.length;
    if (stop === 2 && group[3]?.character !== '=') return (group[3]?.index ?? 1) - 1;
    const extra = kept[start + 4];
    if (extra) return extra.index;
  }
  return Buffer.from(kept.map(({ character }) => character).join(''), 'base64').toString('base64');
};

/**
 * Facts from the Go types of built-in kinds that OpenAPI does not contain: which scalars are pointers, so that `false` and `0` differ from
 * absence, and which zero values are written. From the types of Kubernetes 1.36.
 */

const pointers = new Set(
  `activeDeadlineSeconds collisionCount progressDeadlineSeconds revisionHistoryLimit terminatingReplicas allocateLoadBalancerNodePorts allowPrivilegeEscalation appProtocol automountServiceAccountToken
  blockOwnerDeletion cachingMode controller defaultMode deletionGracePeriodSeconds deprecationWarning enableServiceLinks
  expirationSeconds fsGroup fsGroupChangePolicy gmsaCredentialSpec gmsaCredentialSpecName gracePeriodSeconds holderIdentity
  hostProcess hostUsers hostnameOverride immutable initiatorName internalTrafficPolicy ipFamilyPolicy ipMode labelSelectorPath
  leaseDurationSeconds leaseTransitions loadBalancerClass localhostProfile maxExpirationSeconds maxItems maxLength maxProperties
  maximum minDomains minItems minLength minProperties minimum mode mountPropagation multipleOf nodeAffinityPolicy
  nodeTaintsPolicy optional optionalOldSelf orphanDependents podGroupName preemptionPolicy preferredHolder privileged procMount
  propagationPolicy readOnlyRootFilesystem recursiveReadOnly recursiveReadOnlyMounts remainingItemCount
  resourceClaimTemplateName runAsGroup runAsNonRoot runAsUser runAsUserName runtimeClassName seLinuxChangePolicy service
  setHostnameAsFQDN shareProcessNamespace started stopSignal storageClassName supplementalGroupsPolicy
  terminationGracePeriodSeconds tolerationSeconds trafficDistribution userNamespaces volumeAttributesClassName volumeMode
  x-kubernetes-list-type x-kubernetes-map-type x-kubernetes-preserve-unknown-fields $ref`.split(/\s+/),
);

/** Names that are pointers in one type only; another field identifies that type. */
const pointersBeside: Readonly<Record<string, string>> = {
  priority: 'schedulerName',
  restartPolicy: 'image',
  strategy: 'holderIdentity',
  resourceClaimName: 'name',
  reason: 'messageExpression',
  url: 'caBundle',
  fsType: 'volumeAttributes',
  readOnly: 'volumeAttributes',
  signerName: 'labelSelector',
  name: 'labelSelector',
  lun: 'wwids',
};

const isPointer = (name: string, type: Schema): boolean => {
  const fields = type.properties ?? {};
  if (pointers.has(name)) return true;
  if (name === 'replicas') return 'selector' in fields && 'template' in fields;
  if (name === 'type') return Object.keys(fields).sort().join() === 'path,type';
  if (name === 'timeoutSeconds') return !('periodSeconds' in fields);
  if (name === 'value') return Object.keys(fields).sort().join() === 'name,value' && !type.required?.includes('value');
  if (name === 'path' || name === 'port') return 'namespace' in fields && 'path' in fields;
  const beside = Object.hasOwn(pointersBeside, name) ? pointersBeside[name] : undefined;
  return beside !== undefined && beside in fields;
};

/** Times that are not pointers: absent ones are written as null. */
const isWrittenTime = (name: string): boolean =>
  /^(last(Transition|Update|Heartbeat|Probe|Observed)Time|(started|finished)At|eventTime|(deprecated)?(first|last)Timestamp|expirationTimestamp)$/i.test(
    name,
  );

const isMicroTime = (name: string): boolean =>
  ['renewTime', 'acquireTime', 'eventTime', 'lastObservedTime'].includes(name);

/** Empty lists that are written as null, in addition to those that the schema requires. */
const isWrittenList = (name: string, type: Schema): boolean =>
  type.required?.includes(name) === true ||
  ['sources', 'rules', 'names', 'audiences', 'storedVersions'].includes(name) ||
  (name === 'conditions' && 'storedVersions' in (type.properties ?? {}));

/** Zero values that are written: required ones, and those with a zero default. */
const isWrittenZero = (name: string, field: Schema, type: Schema): boolean => {
  if (type.required?.includes(name)) return true;
  return field.default !== undefined && (name !== 'name' || 'features' in (type.properties ?? {}));
};

/** Why Go could not decode a body that is valid JSON. */
class DecodingError extends Error {}

const isQuantity = (schema: Schema): boolean => schema.oneOf?.some(({ type }) => type === 'number') === true;

const zeroOf = (schema: Schema): Json => {
  if (schema.type === 'boolean') return false;
  return schema.type === 'integer' || schema.type === 'number' ? 0 : '';
};

const isZero = (value: unknown): boolean => value === undefined || value === '' || value === 0 || value === false;

const time = (name: string, value: unknown): unknown => {
  if (typeof value !== 'string') return isWrittenTime(name) ? null : undefined;
  try {
    return isMicroTime(name) ? canonicalMicroTime(value) : canonicalTime(value);
  } catch (error) {
    throw error instanceof TimeError ? new DecodingError(error.message) : error;
  }
};

const quantity = (value: unknown, read: (text: string | number) => string | undefined): unknown => {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const text = read(value);
  if (text === undefined) throw new DecodingError(quantityFormatError);
  return text;
};

const bytes = (value: unknown): unknown => {
  if (typeof value !== 'string') return undefined;
  const result = canonicalBase64(value);
  if (typeof result === 'number') throw new DecodingError(`illegal base64 data at input byte ${result}`);
  return result;
};

const scalar = (name: string, value: unknown, field: Schema, type: Schema): unknown => {
  if (isPointer(name, type)) return value ?? copy(field.default);
  if (!isZero(value ?? undefined)) return value;
  if (field.default !== undefined && !isZero(field.default)) return field.default;
  return isWrittenZero(name, field, type) ? zeroOf(field) : undefined;
};

/** Of a list or a map: Go reads null as the zero value. */
const element = (value: unknown, schema: Schema): unknown => {
  if (isQuantity(schema)) return quantity(value, canonicalResourceQuantity) ?? '0';
  if (schema.format === 'byte') return bytes(value) ?? '';
  if (schema.properties) return struct(isObject(value) ? value : {}, schema);
  if (schema.type === 'array') return list(value, schema) ?? null;
  if (schema.type === 'object' || schema.type === undefined) return value;
  return value ?? zeroOf(schema);
};

const list = (value: unknown, schema: Schema): unknown[] | undefined => {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  const { items } = schema;
  return items ? value.map((item) => element(item, items)) : value;
};

const map = (value: unknown, values: Schema): Record<string, unknown> | undefined => {
  if (!isObject(value) || Object.keys(value).length === 0) return undefined;
  for (const key of Object.keys(value)) set(value, key, element(value[key], values));
  return value;
};

const canonicalField = (name: string, value: unknown, field: Schema, type: Schema): unknown => {
  if (isQuantity(field)) return quantity(value, canonicalQuantity) ?? (name === 'divisor' ? '0' : undefined);
  if (field.format === 'date-time') return time(name, value);
  if (field.format === 'byte') return bytes(value) || (type.required?.includes(name) ? null : undefined);
  if (field.type === 'array') return list(value, field) ?? (isWrittenList(name, type) ? null : undefined);
  if (field.properties) {
    const given = value ?? copy(field.default);
    return isObject(given) ? struct(given, field) : (given ?? undefined);
  }
  if (isObject(field.additionalProperties)) return map(value, field.additionalProperties);
  if (field.type === undefined || field.type === 'object') return value ?? undefined;
  return scalar(name, value, field, type);
};

const struct = (value: Record<string, unknown>, type: Schema): Record<string, unknown> => {
  for (const [name, field] of Object.entries(type.properties ?? {})) {
    const result = canonicalField(name, Object.hasOwn(value, name) ? value[name] : undefined, field, type);
    if (result === undefined) delete value[name];
    else set(value, name, result);
  }
  return value;
};

/**
 * Converts an object of a built-in kind to the form in which the real server stores and returns it, as if Go had decoded and encoded it:
 * nulls and `omitempty` fields are removed, structs and zero values that Go always writes are added, times are UTC, quantities canonical.
 * Throws a 400 for a value that Go could not decode.
 */
export const canonicalize = (object: KubeObject, schema: Schema): void => {
  const { apiVersion, kind } = object;
  try {
    struct(object, schema);
  } catch (error) {
    if (!(error instanceof DecodingError)) throw error;
    const version = apiVersion.split('/').at(-1) ?? '';
    throw badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${error.message}`);
  }
};
