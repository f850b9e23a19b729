/** Replaces equal strings in objects by one of them, in place. Short strings are shared by `JSON.parse` already. */
export type ShareStrings = (value: unknown) => void;

/** `JSON.parse` returns the same string for equal strings that are shorter. */
const shortest = 10;

/**
 * The objects of a kind have most of their text in common: types, reasons and messages of conditions, names of owners, times.
 * Forgets all when it holds `maxStrings`: unique strings go, and of a common one a few copies remain.
 */
export const createStringPool = (maxStrings = 4096): ShareStrings => {
  const strings = new Map<string, string>();
  const sharedOf = (text: string): string => {
    const shared = strings.get(text);
    if (shared !== undefined) return shared;
    if (strings.size >= maxStrings) strings.clear();
    strings.set(text, text);
    return text;
  };
  const share: ShareStrings = (value) => {
    if (typeof value !== 'object' || value === null) return;
    for (const key in value) {
      const member: unknown = Reflect.get(value, key);
      if (typeof member !== 'string') share(member);
      else if (member.length >= shortest) Reflect.set(value, key, sharedOf(member));
    }
  };
  return share;
};
