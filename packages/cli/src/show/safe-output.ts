import type { Writable } from 'node:stream';

const escape = '\u001B';
/** The colours that `paint` and `createVoice` use; and all that a terminal or a reader could take for something else than text. */
const special = new RegExp(`${escape}\\[(?:0|1|2|31|32|33)m|[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}]`, 'gu');

/**
 * Text with every control character escaped as `\u001b`, except line breaks, tabs and our own colours. Macs, guests and people at
 * Scaleway choose words that we print; raw, they could move the cursor, write to the clipboard (OSC 52) or reorder the line. In JSON
 * the escapes mean the same characters.
 */
export const escapeControls = (text: string): string =>
  text.replaceAll(special, (found) =>
    found.length > 2 || found === '\n' || found === '\t'
      ? found
      : Array.from({ length: found.length }, (_, at) => escapeUnit(found.charCodeAt(at))).join(''),
  );

const escapeUnit = (unit: number): string => `\\u${unit.toString(16).padStart(4, '0')}`;

const behind = new WeakMap<object, Writable>();

/** The same stream, but what is written to it is escaped: no command can print a control character by accident. */
export const safeOutput = <Stream extends Writable>(stream: Stream): Stream => {
  const write = (chunk: unknown, ...more: never[]): boolean => stream.write(escapeControls(String(chunk)), ...more);
  const safe = new Proxy(stream, {
    get: (target, key) => {
      if (key === 'write') return write;
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  behind.set(safe, stream);
  return safe;
};

/** For what draws on a terminal with codes of its own: the stream itself. Whoever uses it escapes all text by `escapeControls`. */
export const drawOn = (stream: Writable, text: string): void => {
  (behind.get(stream) ?? stream).write(text);
};
