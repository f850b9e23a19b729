/**
 * The plural that core expects of a kind in lower case. It asks nobody: whoever names a definition otherwise is never found. The few
 * rules of English that names of kinds meet.
 */
export const pluralize = (kind: string): string => {
  const word = kind.toLowerCase();
  if (/[^aeiou]y$/.test(word)) return `${word.slice(0, -1)}ies`;
  return /(s|x|z|ch|sh)$/.test(word) ? `${word}es` : `${word}s`;
};
