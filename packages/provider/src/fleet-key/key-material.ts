/** Kind and bytes of a public key: what makes it the same key, whatever its comment and whatever it is called (I-31). */
export const keyMaterial = (publicKey: string): string => publicKey.trim().split(/\s+/).slice(0, 2).join(' ');
