import { isGoldenName } from '../images/golden-name.ts';
import type { ImageRecords } from '../images/image-records.ts';
import type { Ownership } from './ownership.ts';

export interface MadeHereOptions {
  readonly images: Pick<ImageRecords, 'isMade' | 'forget'>;
  /** The journal of Pods has a virtual machine of this name. Rejects when it cannot be read. */
  readonly isInJournal: (vm: string) => Promise<boolean>;
  /** The folder of this virtual machine has our marker, made for this name. Rejects when it cannot be read. */
  readonly isMarked: (vm: string) => Promise<boolean>;
}

/** By what this agent has written down. */
export const createMadeHere = ({ images, isInJournal, isMarked }: MadeHereOptions): Ownership => ({
  of: async (name) => {
    try {
      if (name.includes('/')) return (await images.isMade(name)) ? 'ours' : 'not ours';
      const isWritten = isGoldenName(name) ? images.isMade(name) : isInJournal(name);
      return (await isWritten) && (await isMarked(name)) ? 'ours' : 'not ours';
    } catch {
      return 'unknown';
    }
  },
  // The journal of a Pod ends with its Pod, not with its virtual machine.
  forget: (name) => (name.includes('/') || isGoldenName(name) ? images.forget(name) : Promise.resolve()),
});
