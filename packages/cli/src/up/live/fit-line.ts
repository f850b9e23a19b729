import { lettersOf, type Look, printable } from '../../show/look.ts';

const escape = '\u001B';
/** Split by it, every second part is a colour. */
const colour = new RegExp(`(${escape}\\[[\\d;]*m)`);
const plainAgain = `${escape}[0m`;

/** Blanks stay, since they align; whatever would move the cursor does not. */
const harmless = (text: string): string => text.split(' ').map(printable).join(' ');

const lettersAmong = (parts: readonly string[]): number =>
  parts.reduce((sum, part, at) => (at % 2 === 0 ? sum + lettersOf(part).length : sum), 0);

/** Letters of a line that are seen. */
export const lengthOf = (line: string): number => lettersAmong(line.split(colour));

/** One line of a terminal, cut with `…` where that ends. Colours take no room, and do not run on into the next line. */
export const fitLine = (line: string, columns: number, { colours }: Look): string => {
  const parts = line.split(colour).map((part, at) => (at % 2 === 0 ? harmless(part) : part));
  const isCut = lettersAmong(parts) > columns;
  let room = isCut ? columns - 1 : columns;
  let isColoured = false;
  let text = '';
  for (const [at, part] of parts.entries()) {
    if (at % 2 === 0) {
      const letters = lettersOf(part).slice(0, room);
      text += letters.join('');
      room -= letters.length;
    } else if (colours) {
      text += part;
      isColoured = part !== plainAgain;
    }
  }
  return `${text}${isCut ? '…' : ''}${isColoured ? plainAgain : ''}`;
};
