import { isKubeError } from '@tartan/kube';

/** Undefined: the object has changed since it was read, or is gone. The caller reads it again. */
export const ignoreStale = async <T>(write: Promise<T>): Promise<T | undefined> => {
  try {
    return await write;
  } catch (error) {
    if (isKubeError(error, 'conflict', 'notFound')) return undefined;
    throw error;
  }
};
