const secretPatterns: readonly (readonly [RegExp, string])[] = [
  // The VNC address of a VM contains its password.
  [/vnc:\/\/\S+/gi, 'vnc://<redacted>'],
  [/\b([a-z][a-z0-9+.-]*:\/\/)[^\s/@]+@/gi, '$1<redacted>@'],
  [/\b(bearer|basic)\s+[\w.~+/=-]{8,}/gi, '$1 <redacted>'],
  [/\b(password|token|secret)(["']?\s*[:=]\s*["']?)[^\s"',}]+/gi, '$1$2<redacted>'],
];

/** Redacts the given secrets and everything that looks like one. */
export const redact = (text: string, secrets: readonly string[] = []): string => {
  // Longest first: one may contain another.
  const known = secrets.filter((secret) => secret !== '').toSorted((a, b) => b.length - a.length);
  const without = known.reduce((rest, secret) => rest.replaceAll(secret, '<redacted>'), text);
  return secretPatterns.reduce((rest, [pattern, instead]) => rest.replace(pattern, instead), without);
};
