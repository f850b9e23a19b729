import { isDeepStrictEqual } from 'node:util';
import type { CallOptions, Client, KubeObject, Live, Resource } from '@tartan/kube';

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether a merge patch would leave everything as it is. */
const holds = (value: unknown, patch: unknown): boolean => {
  if (patch === null) return value === undefined;
  if (!isMap(patch)) return isDeepStrictEqual(value, patch);
  return Object.entries(patch).every(([key, wanted]) =>
    wanted === undefined ? true : holds(isMap(value) ? value[key] : undefined, wanted),
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
  if (holds(live, body)) return live;
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
