import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isKubeError } from '@tartan/kube';
import { z } from 'zod';

const savedStateSchema = z.object({
  /** Of the Kubernetes API: Macs that have joined look for it there. */
  port: z.number().int().min(1).max(65_535),
  /** How many agents have been rolled out; the next one has the next version. */
  release: z.number().int().min(1),
});

/** What the next start must know besides what Kubernetes, Scaleway and the Macs keep. */
type SavedState = z.infer<typeof savedStateSchema>;

const stateFile = (folder: string): string => join(folder, 'state.json');

/** `undefined`: nothing was ever started there. */
export const readSavedState = async (folder: string): Promise<SavedState | undefined> => {
  const file = stateFile(folder);
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    return savedStateSchema.parse(JSON.parse(text));
  } catch (cause) {
    throw new Error(
      `${file} is not what tartan up has written there, so it is not known how the fleet goes on. ` +
        'Nothing was changed. Choose another folder with --data, or move this one away to start anew.',
      { cause },
    );
  }
};

export const writeSavedState = async (folder: string, state: SavedState): Promise<void> => {
  const file = stateFile(folder);
  await writeFile(`${file}.new`, JSON.stringify(state));
  await rename(`${file}.new`, file);
};

/** On which port to serve. Macs that have joined know one, and nothing tells them of another. */
export const portFor = (kept: SavedState | undefined, wanted: number, folder: string): number => {
  if (kept === undefined || wanted === 0 || wanted === kept.port) return kept?.port ?? wanted;
  throw new Error(
    `the Macs of the fleet in ${folder} know its Kubernetes at port ${kept.port}, and would not find it at ${wanted}. ` +
      'Leave --port out, or choose another folder with --data.',
  );
};

const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;

const errorTexts: Readonly<Record<string, (folder: string, why: string) => string>> = {
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
export const readableError = (error: unknown, folder: string): unknown => {
  const sentence = errorTexts[codeOf(error) ?? ''];
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
