import { stat } from 'node:fs/promises';
import { bundle } from './bundle.ts';

/** A roll sends it to every Mac (architecture: one bundled file below 1 MB instead of a binary of 47 MB). */
export const mostBytes = 1_000_000;

/** The agent as one file, `tart-kubelet.mjs`, as it is pushed to Macs. Rejects when it has become too large. */
export const buildAgent = async (
  folder: string,
  { version, most = mostBytes }: { readonly version?: string; readonly most?: number } = {},
): Promise<string> => {
  const file = await bundle({
    program: 'packages/tart-kubelet/src/main.ts',
    folder,
    name: 'tart-kubelet',
    single: true,
    ...(version !== undefined && { version }),
  });
  const { size } = await stat(file);
  if (size > most)
    throw new Error(
      `${file} has ${size} bytes, and ${most} is the most that a roll should send to every Mac. See what it imports.`,
    );
  return file;
};
