/** Replaces equal strings in objects by one of them, in place. Short strings are shared by `JSON.parse` already. */
export type ShareStrings = (value: unknown) => void;

/** `JSON.parse` returns the same string for equal strings that are shorter. */
const shortest = 10;

/**
 * The objects of a kind have most of their text in common: types, reasons and messages of conditions, names of owners, times.
 * Holds at most twice `maxStrings`: those seen since it was last full, and those seen in the time before that. So common strings stay and
 * unique ones go.
 */
export const createStringPool = (maxStrings = 4096): ShareStrings => {
  let recent = new Map<string, string>();
  let earlier = recent;
  const sharedOf = (text: string): string => {
    const seen = recent.get(text);
    if (seen !== undefined) return seen;
    const shared = earlier.get(text) ?? text;
    if (recent.size >= maxStrings) {
      earlier = recent;
      recent = new Map();
    }
    recent.set(shared, shared);
    return shared;
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
