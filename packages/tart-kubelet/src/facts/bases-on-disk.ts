import { join } from 'node:path';
import { goldenName, isGoldenName } from '../images/golden-name.ts';
import { parseReference } from '../images/reference.ts';
import { readMarker } from '../journal/marker.ts';
import { bundleSize } from './bundle-size.ts';
import { namesIn } from './names-in.ts';

/** A golden base that Pods can be cloned from. */
export interface BaseOnDisk {
  readonly name: string;
  readonly sizeBytes: number;
  /** `repository@digest`, if its marker tells. */
  readonly image: string | undefined;
}

/** Written by us, but read back from where others can write: believed if the name of the base says the same. */
const imageOf = async (folder: string, name: string): Promise<string | undefined> => {
  const marker = await readMarker(folder, name);
  if (marker === undefined || !('goldenOf' in marker)) return undefined;
  const { repository, digest } = parseReference(marker.goldenOf) ?? {};
  if (repository === undefined || digest === undefined) return undefined;
  return goldenName({ repository, digest }) === name ? marker.goldenOf : undefined;
};

/** Rejects when the folder of virtual machines cannot be read; a base that cannot be is left out. */
export const basesOnDisk = async (tartHome: string): Promise<readonly BaseOnDisk[]> => {
  const vms = join(tartHome, 'vms');
  const found = await Promise.all(
    (await namesIn(vms)).filter(isGoldenName).map(async (name) => {
      const folder = join(vms, name);
      const sizeBytes = await bundleSize(folder);
      return sizeBytes === undefined ? [] : [{ name, sizeBytes, image: await imageOf(folder, name) }];
    }),
  );
  return found.flat();
};
