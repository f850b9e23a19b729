import { type Client, keyOf, type KubeObject, type Live } from '@tartan/kube';

/** The caches do not hold the object. It may exist all the same: only the server knows. */
export class NotCachedError extends Error {}

/** Answers get requests from caches, without a request to the server. Rejects with NotCachedError for what they do not hold. */
export const createCacheReader = (
  caches: Readonly<Record<string, readonly { get(key: string): Live<KubeObject> | undefined }[]>>,
): Pick<Client, 'get' | 'list'> => ({
  get: async ({ kind }, name) => {
    const key = keyOf(name);
    for (const cache of caches[kind] ?? []) {
      const found = cache.get(key);
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- The kind determines the type.
      if (found !== undefined) return found as never;
    }
    throw new NotCachedError(`${kind} ${key}`);
  },
  list: ({ kind }) => Promise.reject(new NotCachedError(`a list of ${kind}`)),
});
