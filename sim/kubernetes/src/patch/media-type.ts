import { unsupportedMediaType, ApiError } from '../status/api-error.ts';

export type PatchType = 'json' | 'merge' | 'strategic';

const types: Record<string, PatchType> = {
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic',
};

const applyTypes = ['application/apply-patch+yaml', 'application/apply-patch+cbor'];

const isStrategic = (name: string): boolean => types[name] === 'strategic';

/**
 * Built-in kinds are guarded by the router of the real server, which only says that the type is unsupported; custom resources
 * are not, and take no strategic merge. Upper case does not match, a parameter behind `;` is ignored.
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
