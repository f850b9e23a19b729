import type { Writable } from 'node:stream';

/** How lines look: colours only on a terminal that wants them. */
export interface TextStyle {
  readonly colours: boolean;
}

/** What a piece of text is about, not which colour it has. */
export type Tone = 'good' | 'warn' | 'bad' | 'dim' | 'bold';

const codes: Readonly<Record<Tone, number>> = { good: 32, warn: 33, bad: 31, dim: 2, bold: 1 };

const isOn = (value: string | undefined): boolean => value !== undefined && value !== '' && value !== '0';

/** FORCE_COLOR wins over NO_COLOR, as it does in Node and in npm; a flag wins over both. */
export const textStyleFor = (stream: { isTTY?: boolean }, env: NodeJS.ProcessEnv, wanted = true): TextStyle => {
  if (!wanted) return { colours: false };
  const forced = env['FORCE_COLOR'];
  if (forced !== undefined && forced !== '') return { colours: isOn(forced) && forced !== 'false' };
  return { colours: stream.isTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb' };
};

export const paint = ({ colours }: TextStyle, tone: Tone | undefined, text: string): string =>
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
export const charactersOf = (text: string): readonly string[] => Array.from(text);

export const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

const escape = '\u001B';
/** The colours that `paint` uses, and every control or format character. */
const controlCharacters = new RegExp(`${escape}\\[(?:0|1|2|31|32|33)m|[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}]`, 'gu');

/**
 * Text with every control character escaped as `\u001b`, except line breaks, tabs and our own colours. Macs, guests and people at
 * Scaleway choose words that we print; raw, they could move the cursor, write to the clipboard (OSC 52) or reorder the line. In JSON
 * the escapes mean the same characters.
 */
export const escapeControls = (text: string): string =>
  text.replaceAll(controlCharacters, (found) =>
    found.length > 2 || found === '\n' || found === '\t'
      ? found
      : Array.from({ length: found.length }, (_, at) => escapeUnit(found.charCodeAt(at))).join(''),
  );

const escapeUnit = (unit: number): string => `\\u${unit.toString(16).padStart(4, '0')}`;

const rawStreams = new WeakMap<object, Writable>();

/** The same stream, but what is written to it is escaped: no command can print a control character by accident. */
export const escapingStream = <Stream extends Writable>(stream: Stream): Stream => {
  const write = (chunk: unknown, ...more: never[]): boolean => stream.write(escapeControls(String(chunk)), ...more);
  const safe = new Proxy(stream, {
    get: (target, key) => {
      if (key === 'write') return write;
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  rawStreams.set(safe, stream);
  return safe;
};

/** For what draws on a terminal with codes of its own: the stream itself. Whoever uses it escapes all text by `escapeControls`. */
export const writeRaw = (stream: Writable, text: string): void => {
  (rawStreams.get(stream) ?? stream).write(text);
};

/** Split by it, every second part is a colour. */
const colorSequence = new RegExp(`(${escape}\\[[\\d;]*m)`);
const resetSequence = `${escape}[0m`;

/** Blanks stay, since they align; whatever would move the cursor does not. */
const printableWords = (text: string): string => text.split(' ').map(printable).join(' ');

const visibleCount = (parts: readonly string[]): number =>
  parts.reduce((sum, part, at) => (at % 2 === 0 ? sum + charactersOf(part).length : sum), 0);

/** Letters of a line that are seen. */
export const visibleLength = (line: string): number => visibleCount(line.split(colorSequence));

/** One line of a terminal, cut with `…` where that ends. Colours take no room, and do not run on into the next line. */
export const fitLine = (line: string, columns: number, { colours }: TextStyle): string => {
  const parts = line.split(colorSequence).map((part, at) => (at % 2 === 0 ? printableWords(part) : part));
  const isCut = visibleCount(parts) > columns;
  let room = isCut ? columns - 1 : columns;
  let isColoured = false;
  let text = '';
  for (const [at, part] of parts.entries()) {
    if (at % 2 === 0) {
      const letters = charactersOf(part).slice(0, room);
      text += letters.join('');
      room -= letters.length;
    } else if (colours) {
      text += part;
      isColoured = part !== resetSequence;
    }
  }
  return `${text}${isCut ? '…' : ''}${isColoured ? resetSequence : ''}`;
};
