export interface PemBlock {
  type: string;
  bytes: Buffer;
}

/** The first block of a PEM text and what follows it. Linear in the length of the text, whatever that is. */
export const firstBlock = (text: string): { block: PemBlock; rest: string } | undefined => {
  const begin = /-----BEGIN ([A-Z0-9 ]{1,64})-----/.exec(text);
  const type = begin?.[1];
  if (!begin || type === undefined) return undefined;
  const from = begin.index + begin[0].length;
  const end = `-----END ${type}-----`;
  const to = text.indexOf(end, from);
  if (to < 0) return undefined;
  return { block: { type, bytes: Buffer.from(text.slice(from, to), 'base64') }, rest: text.slice(to + end.length) };
};
