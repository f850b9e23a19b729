import { join } from 'node:path';
import * as z from 'zod/mini';
import { readGuestFile } from '../guest/guest-file.ts';
import { parseJson } from '../parse-json.ts';
import { writeFileAtomic } from './atomic-write.ts';

const uidPattern = /^[0-9A-Za-z](?:[0-9A-Za-z-]{0,61}[0-9A-Za-z])?$/;

/** Tart has no limit, but the name is also a folder name and shown in many places. */
const maxNameLength = 100;

/**
 * The name of a Pod's VM: readable by the Pod's name, unique by its UID. A later Pod of the same name gets another VM, and so never
 * this one's disk (INC-407, INC-25). `undefined` for an invalid UID: it must not become a path.
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
 * The ownership marker in a VM's folder: who created it, and for which Pod or image. The agent never deletes a VM without it (B5). It is
 * in the VM's folder, so it is deleted with the VM, and survives a lost journal.
 */
const markerFile = 'tartan.json';

const name = z.string().check(z.minLength(1));
const common = { version: z.literal(1), agent: name, vm: z.string() };
const podMarkerSchema = z.object({ ...common, podUID: name });
/** A golden base belongs to no Pod, but to an image: `repository@digest`. */
const goldenMarkerSchema = z.object({ ...common, goldenOf: name });
const markerSchema = z.union([podMarkerSchema, goldenMarkerSchema]);

type PodMarker = Readonly<z.infer<typeof podMarkerSchema>>;
type GoldenMarker = Readonly<z.infer<typeof goldenMarkerSchema>>;
export type OwnershipMarker = PodMarker | GoldenMarker;

export const writeOwnershipMarker = (vmFolder: string, one: OwnershipMarker): Promise<void> =>
  writeFileAtomic(join(vmFolder, markerFile), `${JSON.stringify(one)}\n`);

/** `undefined`: no marker, an invalid one, or one for another VM name: a clone that a user made of our VM belongs to the user. */
export const readOwnershipMarker = async (vmFolder: string, vm: string): Promise<OwnershipMarker | undefined> => {
  const content = await readGuestFile(vmFolder, markerFile, 4096);
  if (content.kind !== 'read' || content.truncated) return undefined;
  const found = parseJson(markerSchema, content.bytes.toString('utf8'));
  return found?.vm === vm ? found : undefined;
};
