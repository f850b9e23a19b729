import type { Writable } from 'node:stream';

export interface TextStyle {
  readonly colours: boolean;
}

export type Tone = 'good' | 'warn' | 'bad' | 'dim' | 'bold';

const codes: Readonly<Record<Tone, number>> = { good: 32, warn: 33, bad: 31, dim: 2, bold: 1 };

const isOn = (value: string | undefined): boolean => value !== undefined && value !== '' && value !== '0';

/** FORCE_COLOR overrides NO_COLOR, as in Node.js and npm; the flag overrides both. */
export const textStyleFor = (stream: { isTTY?: boolean }, env: NodeJS.ProcessEnv, wanted = true): TextStyle => {
  if (!wanted) return { colours: false };
  const forced = env['FORCE_COLOR'];
  if (forced !== undefined && forced !== '') return { colours: isOn(forced) && forced !== 'false' };
  return { colours: stream.isTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb' };
};

export const paint = ({ colours }: TextStyle, tone: Tone | undefined, text: string): string =>
  colours && tone !== undefined && text !== '' ? `\u001B[${codes[tone]}m${text}\u001B[0m` : text;

/** Untrusted text in one line, such as a name at Scaleway: without line breaks, and with control characters replaced. */
export const printable = (text: string): string =>
  text.replaceAll(/\s+/g, ' ').replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\uFFFD');

/** Untrusted text of several lines. Those after the first are indented. */
export const printableLines = (text: string, indent: string): string =>
  text.trimEnd().split(/\r?\n/).map(printable).join(`\n${indent}`);

export const charactersOf = (text: string): readonly string[] => Array.from(text);

export const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

const escape = '\u001B';
/** The colours of `paint`, and all control and format characters. */
const controlCharacters = new RegExp(`${escape}\\[(?:0|1|2|31|32|33)m|[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}]`, 'gu');

/**
 * Escapes control characters as `\u001b`, except line breaks, tabs and our own colours. Macs, guests and users of Scaleway choose texts
 * that we print: raw, they could move the cursor, write to the clipboard (OSC 52) or reorder the line. In JSON the escapes are equivalent.
 */
export const escapeControls = (text: string): string =>
  text.replaceAll(controlCharacters, (found) =>
    found.length > 2 || found === '\n' || found === '\t'
      ? found
      : Array.from({ length: found.length }, (_, at) => escapeUnit(found.charCodeAt(at))).join(''),
  );

const escapeUnit = (unit: number): string => `\\u${unit.toString(16).padStart(4, '0')}`;

const rawStreams = new WeakMap<object, Writable>();

/** The same stream, with all written text escaped. */
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

/** Writes control sequences to the stream itself. The caller escapes all other text with `escapeControls`. */
export const writeRaw = (stream: Writable, text: string): void => {
  (rawStreams.get(stream) ?? stream).write(text);
};

/** A line that is overwritten on a terminal, and not shown elsewhere. */
export const createStatusLine = (stream: Writable & { isTTY?: boolean }) => {
  let shown = '';
  const show = (text: string): void => {
    if (stream.isTTY !== true || text === shown) return;
    shown = text;
    writeRaw(stream, `\r\u001B[K${escapeControls(text)}`);
  };
  return { show, clear: (): void => show('') };
};

export const megabytes = (bytes: number): string => `${(bytes / 1_000_000).toFixed(bytes < 10_000_000 ? 1 : 0)} MB`;

/** After a split, every second part is a colour. */
const colorSequence = new RegExp(`(${escape}\\[[\\d;]*m)`);
const resetSequence = `${escape}[0m`;

/** Like `printable`, but keeps blanks, which align columns. */
const printableWords = (text: string): string => text.split(' ').map(printable).join(' ');

const visibleCount = (parts: readonly string[]): number =>
  parts.reduce((sum, part, at) => (at % 2 === 0 ? sum + charactersOf(part).length : sum), 0);

/** The length of a line without colours. */
export const visibleLength = (line: string): number => visibleCount(line.split(colorSequence));

/** A line cut with `…` to the width of the terminal. Colours end with the line. */
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
