/** `system`, or the GUI session of a user. */
export type Domain = { readonly kind: 'system' } | { readonly kind: 'gui'; readonly uid: number };

export interface Target {
  readonly domain: Domain;
  /** `undefined`: the domain itself. */
  readonly label: string | undefined;
}

const grammar = /^(?:(system)|gui\/(\d+))(?:\/(.+))?$/;

/** Reads `system`, `system/<label>`, `gui/<uid>` and `gui/<uid>/<label>`. */
export const parseTarget = (text: string): Target | undefined => {
  const match = grammar.exec(text);
  if (!match) return undefined;
  const [, system, uid, label] = match;
  return { domain: system === undefined ? { kind: 'gui', uid: Number(uid) } : { kind: 'system' }, label };
};

export const domainName = (domain: Domain): string => (domain.kind === 'system' ? 'system' : `gui/${domain.uid}`);

/** As in the error for an unknown service. */
export const domainInWords = (domain: Domain): string =>
  domain.kind === 'system' ? 'system' : `user gui: ${domain.uid}`;

/** launchctl's exit codes, which are errno-like numbers, and their texts. */
const errorNames = {
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

export type LaunchdCode = keyof typeof errorNames;

/** `5: Input/output error`. */
export const errorText = (code: LaunchdCode): string => `${code}: ${errorNames[code]}`;
