import { join } from 'node:path';
import type { ImageRecords } from '../images/image-records.ts';
import { goldenName, isGoldenName, parseReference } from '../images/image-reference.ts';
import type { Journal } from '../journal/journal.ts';
import { type OwnershipMarker, readOwnershipMarker } from '../journal/vm-identity.ts';

/** `unknown`: the journal or the marker could not be read. The collector treats it as not ours. */
export type Owner = 'ours' | 'not ours' | 'unknown';

/** Whether the journal has a VM of this name. Rejects when any record cannot be read: it may be this VM's. */
export const isInJournal = async (journal: Pick<Journal, 'list'>, vm: string): Promise<boolean> => {
  const { records, problems } = await journal.list();
  if (records.some((record) => record.vm === vm)) return true;
  if (problems.length > 0) throw new Error(`It is not known whether ${vm} is in the journal: ${problems[0]}`);
  return false;
};

/** The image of a golden base as `repository@digest`. `undefined` for a marker of another base: other users can write there. */
export const imageOfBase = (name: string, marker: OwnershipMarker | undefined): string | undefined => {
  if (marker === undefined || !('goldenOf' in marker)) return undefined;
  const { repository, digest } = parseReference(marker.goldenOf) ?? {};
  if (repository === undefined || digest === undefined) return undefined;
  return goldenName({ repository, digest }) === name ? marker.goldenOf : undefined;
};

/** Whether the VM's folder has our marker: for a base its image's, for any other VM its Pod's. */
export const hasMarker = async (tartHome: string, vm: string): Promise<boolean> => {
  // The name may come from a command line: it must not become a path.
  if (vm.includes('/') || vm.startsWith('.')) return false;
  const marker = await readOwnershipMarker(join(tartHome, 'vms', vm), vm);
  if (marker === undefined) return false;
  return isGoldenName(vm) ? imageOfBase(vm, marker) !== undefined : 'podUID' in marker;
};

interface OwnershipOptions {
  readonly images: Pick<ImageRecords, 'isOwned' | 'forget'>;
  /** Whether the Pod journal has a VM of this name. Rejects when it cannot be read. */
  readonly isInJournal: (vm: string) => Promise<boolean>;
  /** Whether the VM's folder has our marker for this name. Rejects when it cannot be read. */
  readonly hasMarker: (vm: string) => Promise<boolean>;
}

/** Ownership according to the agent's own records. */
export const createOwnership = ({ images, ...options }: OwnershipOptions) => ({
  /**
   * A local VM is ours if the journal has it and its folder has our marker. Both are needed, since names are reused and folders can
   * be renamed. An image (`repository@digest`) is ours if the records say that we pulled it. Only reads. Never rejects.
   */
  ownerOf: async (name: string) => {
    try {
      if (name.includes('/')) return (await images.isOwned(name)) ? 'ours' : 'not ours';
      const isRecorded = isGoldenName(name) ? images.isOwned(name) : options.isInJournal(name);
      return (await isRecorded) && (await options.hasMarker(name)) ? 'ours' : 'not ours';
    } catch {
      return 'unknown';
    }
  },
  // The journal record of a Pod is removed with the Pod, not with the VM.
  /** Call after the deletion. Idempotent. */
  forget: (name: string) => (name.includes('/') || isGoldenName(name) ? images.forget(name) : Promise.resolve()),
});

/** Who created the VMs and images on this Mac. A name proves nothing: an image bake may use any name (INC-46, B5). */
export type Ownership = ReturnType<typeof createOwnership>;
