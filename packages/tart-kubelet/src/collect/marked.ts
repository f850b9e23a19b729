import { join } from 'node:path';
import { goldenName, isGoldenName } from '../images/golden-name.ts';
import { parseReference } from '../images/reference.ts';
import { type Marker, readMarker } from '../journal/marker.ts';

/** A base is that of its image: the marker of one under the name of another is not believed. */
const isOfBase = (name: string, marker: Marker): boolean => {
  const { repository, digest } = ('goldenOf' in marker && parseReference(marker.goldenOf)) || {};
  return repository !== undefined && digest !== undefined && goldenName({ repository, digest }) === name;
};

/** Whether the folder of this virtual machine has our marker: a base that of its image, any other that of its Pod. */
export const createIsMarked =
  (tartHome: string) =>
  async (vm: string): Promise<boolean> => {
    // From a command line, maybe: what is no name must not become a path.
    if (vm.includes('/') || vm.startsWith('.')) return false;
    const marker = await readMarker(join(tartHome, 'vms', vm), vm);
    if (marker === undefined) return false;
    return isGoldenName(vm) ? isOfBase(vm, marker) : 'podUID' in marker;
  };
