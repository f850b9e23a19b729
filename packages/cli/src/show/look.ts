/** How lines look: colours only on a terminal that wants them. */
export interface Look {
  readonly colours: boolean;
}

/** What a piece of text is about, not which colour it has. */
export type Tone = 'good' | 'warn' | 'bad' | 'dim' | 'bold';

const codes: Readonly<Record<Tone, number>> = { good: 32, warn: 33, bad: 31, dim: 2, bold: 1 };

const isOn = (value: string | undefined): boolean => value !== undefined && value !== '' && value !== '0';

/** FORCE_COLOR wins over NO_COLOR, as it does in Node and in npm; a flag wins over both. */
export const lookOf = (stream: { isTTY?: boolean }, env: NodeJS.ProcessEnv, wanted = true): Look => {
  if (!wanted) return { colours: false };
  const forced = env['FORCE_COLOR'];
  if (forced !== undefined && forced !== '') return { colours: isOn(forced) && forced !== 'false' };
  return { colours: stream.isTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb' };
};

export const paint = ({ colours }: Look, tone: Tone | undefined, text: string): string =>
  colours && tone !== undefined && text !== '' ? `\u001B[${codes[tone]}m${text}\u001B[0m` : text;

/**
 * Text of others, made safe to print: a name at Scaleway or the message of an event may hold anything, and what moves the cursor or
 * starts a new line would write into the lines of others.
 */
export const printable = (text: string): string =>
  text.replaceAll(/\s+/g, ' ').replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\uFFFD');

/** The same for a text of several lines: those after the first are indented, so that none looks like a line of ours. */
export const printableLines = (text: string, indent: string): string =>
  text.trimEnd().split(/\r?\n/).map(printable).join(`\n${indent}`);

/** Letters as people count them, near enough for columns. */
export const lettersOf = (text: string): readonly string[] => Array.from(text);
