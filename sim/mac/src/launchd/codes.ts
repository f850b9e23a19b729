/** launchctl's exit codes, which are errno-like numbers, and how it words them. */
const texts = {
  1: 'Operation not permitted',
  3: 'No such process',
  5: 'Input/output error',
  36: 'Operation now in progress',
  37: 'Operation already in progress',
  113: 'Could not find specified service',
  119: 'Service is disabled',
  122: 'Path had bad ownership/permissions',
  125: 'Domain does not support specified action',
  150: 'Operation not permitted while System Integrity Protection is engaged',
} as const;

export type LaunchdCode = keyof typeof texts;

/** `5: Input/output error`. */
export const codeText = (code: LaunchdCode): string => `${code}: ${texts[code]}`;
