import { isDeepStrictEqual } from 'node:util';
import type { CallOptions, Client } from '../client/client.ts';
import type { KubeObject, Live, Resource } from './object.ts';

/** A kind with a status subresource. */
export type WithStatus = KubeObject & { status?: object };

/**
 * Makes the status of an object exactly `next`.
 *
 * Flow: sends the difference between the status of `live` and `next` as one merge patch of the status subresource. Sends
 * nothing if they are equal.
 * Guarantees: the patch includes the resource version of `live` (optimistic lock). Rejects when the write failed: a reconcile
 * that cannot report its result has failed.
 * Assumptions: the caller owns the whole status; members that are not in `next` are removed.
 * Caveats: a null member counts as absent, as usual in Kubernetes. Lists are replaced whole. A missing status equals an empty
 * one.
 */
export const patchStatus = async <T extends WithStatus>(
  client: Client,
  resource: Resource<T>,
  live: Live<T>,
  next: NonNullable<T['status']>,
  options: CallOptions = {},
): Promise<Live<T>> => {
  const status = mergePatch(plain(live.status ?? {}), plain(next));
  if (status === undefined) return live;
  const { name, namespace, resourceVersion } = live.metadata;
  return client.patch(
    resource,
    namespace === undefined ? { name } : { name, namespace },
    { type: 'merge', body: { metadata: { resourceVersion }, status } },
    { ...options, subresource: 'status' },
  );
};

type Json = null | boolean | number | string | Json[] | JsonMap;
interface JsonMap {
  [key: string]: Json;
}

/** The merge patch (RFC 7386) that turns `before` into `after`, both without null members; undefined when they are equal. */
const mergePatch = (before: JsonMap, after: JsonMap): JsonMap | undefined => {
  const changes: [string, Json][] = [];
  for (const key of Object.keys(before)) if (!Object.hasOwn(after, key)) changes.push([key, null]);
  for (const [key, wanted] of Object.entries(after)) {
    const old = Object.hasOwn(before, key) ? before[key] : undefined;
    if (isMap(old) && isMap(wanted)) {
      const change = mergePatch(old, wanted);
      if (change !== undefined) changes.push([key, change]);
    } else if (!isDeepStrictEqual(old, wanted)) changes.push([key, wanted]);
  }
  // `fromEntries` instead of assignment: `__proto__` must become a normal member.
  return changes.length === 0 ? undefined : Object.fromEntries(changes);
};

const isMap = (value: Json | undefined): value is JsonMap =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The JSON form (no `undefined` members, dates as text) without null members; null stays in lists. */
const plain = (value: object): JsonMap => {
  const json = toJson(value);
  return isMap(json) ? json : {};
};

/**
 * Not JSON.parse(JSON.stringify(…)): V8 14.6 (Node 26.10) reads the key of {"a":0,"\"":1} as a backslash after it has parsed
 * {"a":0,"\\":1}, and the wrong member would be removed.
 */
const toJson = (value: unknown): Json => {
  if (Array.isArray(value)) return value.map((item: unknown) => toJson(item));
  if (typeof value === 'object' && value !== null) {
    if ('toJSON' in value && typeof value.toJSON === 'function') return toJson(value.toJSON());
    const members = Object.entries(value).map(([key, member]): [string, Json] => [key, toJson(member)]);
    return Object.fromEntries(members.filter(([, member]) => member !== null));
  }
  // Adding 0 turns -0 into 0, as JSON does.
  if (typeof value === 'number') return Number.isFinite(value) ? value + 0 : null;
  return typeof value === 'string' || typeof value === 'boolean' ? value : null;
};
