import { isKubeError } from '@tartan/kube';

/** What was asked for, or undefined when it is not there. */
export const ifThere = async <T>(asked: Promise<T>): Promise<T | undefined> => {
  try {
    return await asked;
  } catch (error) {
    if (isKubeError(error, 'notFound')) return undefined;
    throw error;
  }
};
