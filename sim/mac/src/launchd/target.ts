/** `system`, or the session of a user at the screen. */
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

/** As the text for an unknown service has it. */
export const domainInWords = (domain: Domain): string =>
  domain.kind === 'system' ? 'system' : `user gui: ${domain.uid}`;
