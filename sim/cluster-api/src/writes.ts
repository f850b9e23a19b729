import { isDeepStrictEqual } from 'node:util';
import {
  type CallOptions,
  type Client,
  isKubeError,
  type KubeObject,
  type Live,
  type Reconciler,
  type ReconcileResult,
  requeueAfter,
  type Resource,
} from '@tartan/kube';

/** The result, or undefined if the object does not exist. */
export const ignoreNotFound = async <T>(asked: Promise<T>): Promise<T | undefined> => {
  try {
    return await asked;
  } catch (error) {
    if (isKubeError(error, 'notFound')) return undefined;
    throw error;
  }
};

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether a merge patch would change nothing. */
const isUnchanged = (value: unknown, patch: unknown): boolean => {
  if (patch === null) return value === undefined;
  if (!isMap(patch)) return isDeepStrictEqual(value, patch);
  return Object.entries(patch).every(([key, wanted]) =>
    wanted === undefined ? true : isUnchanged(isMap(value) ? value[key] : undefined, wanted),
  );
};

/**
 * A merge patch with optimistic locking (`resourceVersion`); no request if it would change nothing. An empty map counts as a change only if
 * the map does not exist yet.
 */
export const patchIfChanged = async <T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  live: Live<T>,
  body: { metadata?: object; spec?: object },
  options?: CallOptions,
): Promise<Live<T>> => {
  if (isUnchanged(live, body)) return live;
  const { name, resourceVersion }: { name: string; resourceVersion: string } = live.metadata;
  const { namespace }: { namespace?: string } = live.metadata;
  const metadata = { ...body.metadata, resourceVersion };
  return client.patch(
    resource,
    { name, ...(namespace !== undefined && { namespace }) },
    { type: 'merge', body: { ...body, metadata } },
    options,
  );
};

/** The finalizers of an object that core manages. Core's names are older than the rule that they contain a slash. */
export const withFinalizer = ({ metadata }: KubeObject, finalizer: string): string[] => {
  const before = metadata?.finalizers ?? [];
  return before.includes(finalizer) ? before : [...before, finalizer];
};

export const withoutFinalizer = ({ metadata }: KubeObject, finalizer: string): string[] =>
  (metadata?.finalizers ?? []).filter((other) => other !== finalizer);

/** After another writer's change; the caches soon have it. */
const conflictRetryMs = 100;

/** A conflict with another writer is no failure: requeue. */
export const requeueOnConflict =
  (reconcile: Reconciler): Reconciler =>
  async (key, signal): Promise<ReconcileResult> => {
    try {
      return await reconcile(key, signal);
    } catch (error) {
      if (isKubeError(error, 'conflict')) return requeueAfter(conflictRetryMs);
      throw error;
    }
  };
