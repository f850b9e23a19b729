import { join } from 'node:path';
import { z } from 'zod';
import { readGuestFile } from '../guest-files/read-guest-file.ts';
import { writeDurably } from './write-durably.ts';

/**
 * Says in the folder of a virtual machine who made it and for whom: what has no such mark is somebody else's, and nobody of ours deletes
 * it (B5). It lies where the machine lies, so that it goes with it, and a journal that was lost takes no ownership away.
 */
const markerFile = 'tartan.json';

const common = { version: z.literal(1), agent: z.string().min(1), vm: z.string() };
const podMarker = z.object({ ...common, podUID: z.string().min(1) });
/** A golden base is nobody's in particular: of it the image counts, as `repository@digest`. */
const goldenMarker = z.object({ ...common, goldenOf: z.string().min(1) });
const marker = z.union([podMarker, goldenMarker]);

type PodMarker = Readonly<z.infer<typeof podMarker>>;
type GoldenMarker = Readonly<z.infer<typeof goldenMarker>>;
export type Marker = PodMarker | GoldenMarker;

export const writeMarker = (vmFolder: string, one: Marker): Promise<void> =>
  writeDurably(join(vmFolder, markerFile), `${JSON.stringify(one)}\n`);

/**
 * `undefined`: not marked, or not so that we understand it, or for a machine of another name: a clone of ours that somebody made by hand
 * is theirs.
 */
export const readMarker = async (vmFolder: string, vm: string): Promise<Marker | undefined> => {
  const content = await readGuestFile(vmFolder, markerFile, 4096);
  if (content.kind !== 'read' || content.truncated) return undefined;
  try {
    const found = marker.safeParse(JSON.parse(content.bytes.toString('utf8'))).data;
    return found?.vm === vm ? found : undefined;
  } catch {
    return undefined;
  }
};
