const alphabet = /^[A-Za-z0-9+/]$/;

/**
 * Base64 as Go's standard decoder takes it: line breaks are skipped, padding is required. Answers the one spelling of the same
 * bytes, or the offset at which Go gives up.
 */
export const canonicalBase64 = (text: string): string | number => {
  const kept = Array.from(text)
    .map((character, index) => ({ character, index }))
    .filter(({ character }) => character !== '\n' && character !== '\r');
  for (let start = 0; start < kept.length; start += 4) {
    const group = kept.slice(start, start + 4);
    const stop = group.findIndex(({ character }) => !alphabet.test(character));
    if (stop === -1) {
      if (group.length === 4) continue;
      return group[0]?.index ?? 0;
    }
    const at = group[stop];
    if (at?.character !== '=' || stop < 2) return at?.index ?? 0;
    if (stop === 2 && group[3] === undefined) return text.length;
    if (stop === 2 && group[3]?.character !== '=') return (group[3]?.index ?? 1) - 1;
    const extra = kept[start + 4];
    if (extra) return extra.index;
  }
  return Buffer.from(kept.map(({ character }) => character).join(''), 'base64').toString('base64');
};
