/** `macos-tahoe-26.3`, `Tahoe` and `tahoe` are one family: `tahoe`. Spaces and dashes carry no meaning: `Golden Gate` is `goldengate`. */
export const osFamilyKey = (os: string): string =>
  os
    .toLowerCase()
    .trim()
    .replace(/^macos-/, '')
    .replace(/-\d.*$/s, '')
    .replaceAll(/[\s_-]/g, '');

/**
 * Whether an installed or installable image is of the family that a pin names. By family, never by image: Scaleway retires images
 * without notice, and a pin on one then empties the pool (I-28).
 */
export const matchesFamily = (
  os: { readonly name: string; readonly family: string } | undefined,
  pin: string,
): boolean => {
  const wanted = osFamilyKey(pin);
  return os !== undefined && wanted !== '' && [osFamilyKey(os.family), osFamilyKey(os.name)].includes(wanted);
};

/** A pin with a version names an image, not a family: refused at claim, taken for its family at release (I-28). */
export const isVersionedPin = (os: string): boolean => /\d/.test(os);
