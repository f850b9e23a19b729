import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isKubeError } from '@tartan/kube';
import { z } from 'zod';

const savedStateSchema = z.object({
  /** Of the Kubernetes API, which joined Macs use. */
  port: z.number().int().min(1).max(65_535),
  /** The number of agent releases; the next one has the next version. */
  release: z.number().int().min(1),
});

/** State of `tartan up` itself. Kubernetes, Scaleway and the Macs keep their own. */
type SavedState = z.infer<typeof savedStateSchema>;

const stateFile = (folder: string): string => join(folder, 'state.json');

/** Undefined: a new folder. */
export const readSavedState = async (folder: string): Promise<SavedState | undefined> => {
  const file = stateFile(folder);
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
  try {
    return savedStateSchema.parse(JSON.parse(text));
  } catch (cause) {
    throw new Error(
      `${file} is invalid, so the fleet cannot be continued. ` +
        'Nothing was changed. Choose another folder with --data, or move this one away.',
      { cause },
    );
  }
};

export const writeSavedState = async (folder: string, state: SavedState): Promise<void> => {
  const file = stateFile(folder);
  await writeFile(`${file}.new`, JSON.stringify(state));
  await rename(`${file}.new`, file);
};

/** The port of the Kubernetes API. Joined Macs use the saved one. */
export const portFor = (kept: SavedState | undefined, wanted: number, folder: string): number => {
  if (kept === undefined || wanted === 0 || wanted === kept.port) return kept?.port ?? wanted;
  throw new Error(
    `the Macs of the fleet in ${folder} use port ${kept.port} of the Kubernetes API, not ${wanted}. ` +
      'Leave --port out, or choose another folder with --data.',
  );
};

const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;

const errorTexts: Readonly<Record<string, (folder: string, why: string) => string>> = {
  ENOSPC: (folder, why) => `the disk that holds ${folder} is full (${why}). Free some space and start again.`,
  EDQUOT: (folder, why) =>
    `your quota on the disk that holds ${folder} is used up (${why}). Free some space and start again.`,
  EACCES: (folder, why) => `${folder} is not writable (${why}). Change its permissions, or choose another with --data.`,
  EROFS: (folder, why) => `${folder} is on a read-only disk (${why}). Choose another with --data.`,
  ENOTDIR: (folder, why) => `${folder} cannot be a folder (${why}). Choose another with --data.`,
  EEXIST: (folder, why) => `${folder} is not a folder (${why}). Choose another with --data.`,
};

/** Adds what to do to errors of the disk and of permissions. Other errors are unchanged. */
export const readableError = (error: unknown, folder: string): unknown => {
  const sentence = errorTexts[codeOf(error) ?? ''];
  if (sentence !== undefined && error instanceof Error)
    return new Error(sentence(folder, error.message), { cause: error });
  if (isKubeError(error, 'forbidden'))
    return new Error(
      `you may not install a simulated fleet in this cluster: ${error.message} ` +
        'Use a kubeconfig of an administrator, or leave --kubernetes out for the embedded one.',
      { cause: error },
    );
  return error;
};
