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

/** What was asked for, or undefined when it is not there. */
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

/** Whether a merge patch would leave everything as it is. */
const isUnchanged = (value: unknown, patch: unknown): boolean => {
  if (patch === null) return value === undefined;
  if (!isMap(patch)) return isDeepStrictEqual(value, patch);
  return Object.entries(patch).every(([key, wanted]) =>
    wanted === undefined ? true : isUnchanged(isMap(value) ? value[key] : undefined, wanted),
  );
};

/**
 * One merge patch that holds the resource version of what was read; nothing at all when that has it already. Empty maps count as
 * something only if they are not there yet.
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

/** Finalizers as they must be while core looks after an object. Core's names are older than the rule that they have a slash. */
export const withFinalizer = ({ metadata }: KubeObject, finalizer: string): string[] => {
  const before = metadata?.finalizers ?? [];
  return before.includes(finalizer) ? before : [...before, finalizer];
};

export const withoutFinalizer = ({ metadata }: KubeObject, finalizer: string): string[] =>
  (metadata?.finalizers ?? []).filter((other) => other !== finalizer);

/** Somebody wrote meanwhile; soon all is seen. */
const conflictRetryMs = 100;

/** What another one wrote between our reading and writing is no failure: look again. */
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
