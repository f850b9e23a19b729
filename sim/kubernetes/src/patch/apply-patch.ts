import { ApiError, badRequest, unsupportedMediaType } from '../errors/api-error.ts';
import { goFormat, goKind, jsonKind } from '../go/fmt.ts';
import { copy, isObject, type KubeObject, type ObjectMeta } from '../object.ts';
import type { Schema } from '../schema/schema.ts';
import { jsonPatch } from './json-patch.ts';
import { mergePatch } from './merge-patch.ts';
import { undecodableResult } from './patch-errors.ts';
import { strategicMergePatch } from './strategic-merge.ts';

export type PatchType = 'json' | 'merge' | 'strategic';

const types: Record<string, PatchType> = {
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic',
};

const applyTypes = ['application/apply-patch+yaml', 'application/apply-patch+cbor'];

const isStrategic = (name: string): boolean => types[name] === 'strategic';

/**
 * For built-in kinds the router of the real server checks the type, and only says that it is unsupported; for custom resources there is no
 * such check, and no strategic merge. Upper case does not match; parameters after `;` are ignored.
 */
export const patchTypeOf = (contentType: string, custom = false): PatchType => {
  const name = contentType.includes(';') ? contentType.slice(0, contentType.indexOf(';')) : contentType;
  if (applyTypes.includes(name)) {
    throw unsupportedMediaType(
      'this embedded API server does not serve server-side apply (application/apply-patch+yaml): use "kubectl apply" without --server-side, or a real cluster',
    );
  }
  const type = Object.hasOwn(types, name) ? types[name] : undefined;
  if (type !== undefined && !(custom && isStrategic(name))) return type;
  if (!custom) throw new ApiError(415, 'UnsupportedMediaType', '415: Unsupported Media Type', {});
  const accepted = [...Object.keys(types).filter((entry) => !isStrategic(entry)), applyTypes[0]];
  throw unsupportedMediaType(
    `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
  );
};

/** The fields are validated later, as in other writes. */
const isMetadata = (value: unknown): value is ObjectMeta => isObject(value);

const patched = (type: 'json' | 'merge', object: KubeObject, patch: unknown): Record<string, unknown> => {
  const result = type === 'json' ? jsonPatch(object, patch) : mergePatch(object, patch);
  if (!isObject(result)) {
    throw undecodableResult(
      JSON.stringify(result),
      `couldn't get version/kind; json parse error: json: cannot unmarshal ${jsonKind(result)} into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`,
    );
  }
  for (const field of ['apiVersion', 'kind']) {
    const value = result[field] ?? '';
    if (typeof value !== 'string') {
      throw undecodableResult(
        JSON.stringify(result),
        `couldn't get version/kind; json parse error: json: cannot unmarshal ${jsonKind(value)} into Go struct field .${field} of type string`,
      );
    }
  }
  return result;
};

/** Applied to the decoded object; its kind cannot change. */
const merged = (object: KubeObject, patch: unknown, schema: Schema | undefined): Record<string, unknown> => {
  if (schema === undefined) throw badRequest('strategic merge patch format is not supported');
  const { apiVersion, kind } = object;
  return { ...strategicMergePatch(object, patch, schema), apiVersion, kind };
};

/**
 * Flow: patch, then check that the result has the basic fields of an object. A missing kind is that of the object, missing metadata are
 * empty. The caller checks the rest – names, types, unknown fields –, as with any other write.
 * Guarantees: neither argument changes, and the result shares nothing with them. Throws only ApiError.
 */
export const applyPatch = (
  type: PatchType,
  object: KubeObject,
  patch: unknown,
  schema: Schema | undefined,
): KubeObject => {
  const result = type === 'strategic' ? merged(object, patch, schema) : patched(type, object, patch);
  const metadata = result['metadata'] ?? {};
  if (!isMetadata(metadata)) {
    throw type === 'strategic'
      ? undecodableResult(goFormat(patch), `cannot restore struct from: ${goKind(metadata)}`)
      : undecodableResult(
          JSON.stringify(result),
          `json: cannot unmarshal ${jsonKind(metadata)} into Go struct field ${object.kind}.metadata of type v1.ObjectMeta`,
        );
  }
  const { apiVersion, kind } = result;
  return copy({
    ...result,
    apiVersion: typeof apiVersion === 'string' ? apiVersion : object.apiVersion,
    kind: typeof kind === 'string' ? kind : object.kind,
    metadata,
  });
};
