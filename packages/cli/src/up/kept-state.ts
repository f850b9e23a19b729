import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';

const schema = z.object({
  /** Of the Kubernetes API: Macs that have joined look for it there. */
  port: z.number().int().min(1).max(65_535),
  /** How many agents have been rolled out; the next one has the next version. */
  release: z.number().int().min(1),
});

/** What the next start must know besides what Kubernetes, Scaleway and the Macs keep. */
export type KeptState = z.infer<typeof schema>;

const fileIn = (folder: string): string => join(folder, 'state.json');

/** `undefined`: nothing was ever started there. */
export const readKeptState = async (folder: string): Promise<KeptState | undefined> => {
  const file = fileIn(folder);
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    return schema.parse(JSON.parse(text));
  } catch (cause) {
    throw new Error(
      `${file} is not what tartan up has written there, so it is not known how the fleet goes on. ` +
        'Nothing was changed. Choose another folder with --data, or move this one away to start anew.',
      { cause },
    );
  }
};

export const writeKeptState = async (folder: string, state: KeptState): Promise<void> => {
  const file = fileIn(folder);
  await writeFile(`${file}.new`, JSON.stringify(state));
  await rename(`${file}.new`, file);
};

/** On which port to serve. Macs that have joined know one, and nothing tells them of another. */
export const portFor = (kept: KeptState | undefined, wanted: number, folder: string): number => {
  if (kept === undefined || wanted === 0 || wanted === kept.port) return kept?.port ?? wanted;
  throw new Error(
    `the Macs of the fleet in ${folder} know its Kubernetes at port ${kept.port}, and would not find it at ${wanted}. ` +
      'Leave --port out, or choose another folder with --data.',
  );
};
