import type { SimulatedScaleway } from '../scaleway.ts';

export type Image = SimulatedScaleway['images'][number];

const everyType = ['M1-M', 'M2-M', 'M2-L', 'M4-S', 'M4-M', 'M4-L', 'M4-XL'];

const image = (
  number: number,
  name: string,
  family: string,
  version: string,
  { isBeta = false, serverTypes = everyType }: Partial<Pick<Image, 'isBeta' | 'serverTypes'>> = {},
): Image => ({
  id: `05000000-0000-4000-8000-${String(number).padStart(12, '0')}`,
  name,
  family,
  version,
  isBeta,
  serverTypes: [...serverTypes],
});

/**
 * Names, families and versions as in the real catalogue: the version may be more precise than the name, a beta is in its family, and DevOS
 * is a separate family for any macOS. The default is not the newest, so that a reinstall without `os_id` is noticed (INC-328).
 */
export const standardImages = (): Image[] => [
  image(1, 'macos-tahoe-26.3', 'Tahoe', '26.3'),
  image(2, 'macos-tahoe-26.5', 'Tahoe', '26.5.1'),
  image(3, 'macos-tahoe-26.6-beta', 'Tahoe', '26.6-beta', { isBeta: true }),
  image(4, 'macos-sequoia-15.3.1', 'Sequoia', '15.3.1'),
  image(5, 'macos-sequoia-15.6', 'Sequoia', '15.6.1'),
  image(6, 'macos-golden-gate-27.0', 'Golden Gate', '27.0', { isBeta: true, serverTypes: ['M2-L', 'M4-S', 'M4-M'] }),
  image(7, 'devos-tahoe-26.3', 'DevOS', '26.3', { serverTypes: ['M2-L'] }),
];

/** The image for that type if the request names none. */
export const defaultImage = (images: readonly Image[], type: string): Image | undefined =>
  images.find((each) => !each.isBeta && each.serverTypes.includes(type));

/** `supported_server_types` is filled in lists and empty in a server, as recorded. */
export const imageJSON = (each: Image, place: 'in a list' | 'in a server'): unknown => ({
  id: each.id,
  name: each.name,
  label: each.name.replace(/^macos/, 'macOS').replaceAll('-', ' '),
  family: each.family,
  version: each.version,
  is_beta: each.isBeta,
  xcode_version: each.version.replace(/\..*/, ''),
  image_url: `https://images.invalid/${each.name}.png`,
  release_notes_url: '',
  description: '',
  tags: ['macos', 'apple', 'apple-license'],
  compatible_server_types: each.serverTypes,
  supported_server_types:
    place === 'in a server'
      ? []
      : each.serverTypes.map((server_type) => ({ server_type, fast_delivery_available: true })),
});
