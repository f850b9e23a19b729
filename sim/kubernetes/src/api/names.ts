/** Letters of generated names: no vowels, so that no words come out, and nothing that looks like something else. */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789';
const suffixLength = 5;
const longestBase = 63 - suffixLength;

export const generateName = (base: string, random: () => number): string => {
  const suffix = Array.from({ length: suffixLength }, () => alphabet[Math.floor(random() * alphabet.length)]);
  return base.slice(0, longestBase) + suffix.join('');
};
