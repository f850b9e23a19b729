import { join } from 'node:path';
import { z } from 'zod';
import { readGuestFile } from '../guest/guest-file.ts';
import { parseJson } from '../parse-json.ts';
import { writeFileAtomic } from './atomic-write.ts';

const uidPattern = /^[0-9A-Za-z](?:[0-9A-Za-z-]{0,61}[0-9A-Za-z])?$/;

/** Of the whole name; tart has no limit, but the name is a folder's and shows in many places. */
const maxNameLength = 100;

/**
 * The name of a Pod's virtual machine: people recognise the Pod, and the UID makes it nobody else's. A later Pod of the same name gets
 * another one, and so never the disk of this one (INC-407, INC-25). `undefined` for what is no UID: it must not become a path.
 */
export const vmNameOf = (pod: {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
}): string | undefined => {
  if (!uidPattern.test(pod.uid)) return undefined;
  const readable = `${pod.namespace}-${pod.name}`.replaceAll(/[^A-Za-z0-9-]/g, '-').replace(/^-+/, '');
  const head = readable.slice(0, maxNameLength - pod.uid.length - 1);
  return head === '' ? pod.uid : `${head}-${pod.uid}`;
};

/**
 * Says in the folder of a virtual machine who made it and for whom: what has no such mark is somebody else's, and nobody of ours deletes
 * it (B5). It lies where the machine lies, so that it goes with it, and a journal that was lost takes no ownership away.
 */
const markerFile = 'tartan.json';

const common = { version: z.literal(1), agent: z.string().min(1), vm: z.string() };
const podMarkerSchema = z.object({ ...common, podUID: z.string().min(1) });
/** A golden base is nobody's in particular: of it the image counts, as `repository@digest`. */
const goldenMarkerSchema = z.object({ ...common, goldenOf: z.string().min(1) });
const markerSchema = z.union([podMarkerSchema, goldenMarkerSchema]);

type PodMarker = Readonly<z.infer<typeof podMarkerSchema>>;
type GoldenMarker = Readonly<z.infer<typeof goldenMarkerSchema>>;
export type OwnershipMarker = PodMarker | GoldenMarker;

export const writeOwnershipMarker = (vmFolder: string, one: OwnershipMarker): Promise<void> =>
  writeFileAtomic(join(vmFolder, markerFile), `${JSON.stringify(one)}\n`);

/**
 * `undefined`: not marked, or not so that we understand it, or for a machine of another name: a clone of ours that somebody made by hand
 * is theirs.
 */
export const readOwnershipMarker = async (vmFolder: string, vm: string): Promise<OwnershipMarker | undefined> => {
  const content = await readGuestFile(vmFolder, markerFile, 4096);
  if (content.kind !== 'read' || content.truncated) return undefined;
  const found = parseJson(markerSchema, content.bytes.toString('utf8'));
  return found?.vm === vm ? found : undefined;
};
