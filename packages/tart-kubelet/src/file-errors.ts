/** Such as `ENOENT`. `undefined` for an error that has no code. */
export const errorCode = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;

/** What `work` gives, or `undefined` when there is no such file or folder. Rejects with every other error. */
export const undefinedIfMissing = async <T>(work: Promise<T>): Promise<T | undefined> => {
  try {
    return await work;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
};
