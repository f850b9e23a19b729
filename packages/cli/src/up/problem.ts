import { isKubeError } from '@tartan/kube';

const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;

const sentences: Readonly<Record<string, (folder: string, why: string) => string>> = {
  ENOSPC: (folder, why) => `the disk that holds ${folder} is full (${why}). Free some space and start again.`,
  EDQUOT: (folder, why) =>
    `your quota on the disk that holds ${folder} is used up (${why}). Free some space and start again.`,
  EACCES: (folder, why) =>
    `${folder} may not be written to (${why}). Change its rights, or choose another with --data.`,
  EROFS: (folder, why) => `${folder} is on a disk that cannot be written to (${why}). Choose another with --data.`,
  ENOTDIR: (folder, why) => `${folder} cannot be a folder (${why}). Choose another with --data.`,
  EEXIST: (folder, why) => `${folder} is no folder (${why}). Choose another with --data.`,
};

/** What stopped it, for people: what, why, what to do. Whatever has its own words keeps them. */
export const problemOf = (error: unknown, folder: string): unknown => {
  const sentence = sentences[codeOf(error) ?? ''];
  if (sentence !== undefined && error instanceof Error)
    return new Error(sentence(folder, error.message), { cause: error });
  if (isKubeError(error, 'forbidden'))
    return new Error(
      `the cluster refuses what a simulated fleet needs: ${error.message} ` +
        'Use a kubeconfig of an administrator, or leave --kubernetes out for the embedded one.',
      { cause: error },
    );
  return error;
};
