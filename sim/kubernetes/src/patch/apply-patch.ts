import { copy, isObject, type KubeObject, type ObjectMeta } from '../object.ts';
import type { Schema } from '../schema/schema.ts';
import { badRequest } from '../status/api-error.ts';
import { goKind, goValue, jsonKind } from './go-text.ts';
import { jsonPatch } from './json-patch.ts';
import type { PatchType } from './media-type.ts';
import { mergePatch } from './merge-patch.ts';
import { undecodable } from './refusals.ts';
import { strategicMergePatch } from './strategic-merge.ts';

export { type PatchType, patchTypeOf } from './media-type.ts';

/** Its fields are checked later, by whoever checks those of other writes. */
const isMetadata = (value: unknown): value is ObjectMeta => isObject(value);

const patched = (type: 'json' | 'merge', object: KubeObject, patch: unknown): Record<string, unknown> => {
  const result = type === 'json' ? jsonPatch(object, patch) : mergePatch(object, patch);
  if (!isObject(result)) {
    throw undecodable(
      JSON.stringify(result),
      `couldn't get version/kind; json parse error: json: cannot unmarshal ${jsonKind(result)} into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`,
    );
  }
  for (const field of ['apiVersion', 'kind']) {
    const value = result[field] ?? '';
    if (typeof value !== 'string') {
      throw undecodable(
        JSON.stringify(result),
        `couldn't get version/kind; json parse error: json: cannot unmarshal ${jsonKind(value)} into Go struct field .${field} of type string`,
      );
    }
  }
  return result;
};

/** Applied to the decoded object, whose kind is not up for change. */
const merged = (object: KubeObject, patch: unknown, schema: Schema | undefined): Record<string, unknown> => {
  if (schema === undefined) throw badRequest('strategic merge patch format is not supported');
  const { apiVersion, kind } = object;
  return { ...strategicMergePatch(object, patch, schema), apiVersion, kind };
};

/**
 * Flow: patch, and make sure that the result has the outline of an object. A missing kind is that of the object, missing
 * metadata are empty. All else – names, types, unknown fields – is for the caller to check, as with any other write.
 *
 * Guarantees: neither argument changes, and the result shares nothing with them. Throws nothing but ApiError.
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
      ? undecodable(goValue(patch), `cannot restore struct from: ${goKind(metadata)}`)
      : undecodable(
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
