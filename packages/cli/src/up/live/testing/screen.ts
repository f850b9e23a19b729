import { Writable } from 'node:stream';

/** One row of a terminal. */
interface Row {
  readonly letters: string[];
  /** It goes on with the row above, which was full. */
  goesOn: boolean;
}

/** A terminal, as far as it is used here: what is on it after everything that was written, as people see it. */
export interface TestScreen {
  readonly stdout: Writable & { columns: number; rows: number };
  /** Each thing that was written, as it came. */
  readonly written: string[];
  /** All lines that can be seen, also those that have scrolled away. Blank ones at the end are left out. */
  lines(): string[];
  /** Those on the screen only. */
  visible(): string[];
  readonly cursorIsShown: boolean;
  /** As people drag its corner: lines that are now too long are broken, those that were broken are whole again. */
  resize(columns: number, rows: number): void;
}

const escape = '\u001B';
/** Letters that take two columns. */
const wide = /\p{Emoji_Presentation}|\p{Script=Han}/u;
const pieces = new RegExp(`${escape}\\[(\\??)(\\d*)([A-Za-z])|[\\s\\S]`, 'gu');

export const testScreen = (columns: number, rows: number): TestScreen => {
  const written: string[] = [];
  let all: Row[] = [{ letters: [], goesOn: false }];
  let at = { row: 0, column: 0 };
  /** Rows above it have scrolled away: they can be seen, and never be reached. */
  let top = 0;
  let [cursorIsShown, breaksLines] = [true, true];
  const stdout = Object.assign(
    new Writable({
      decodeStrings: false,
      write: (chunk, _encoding, done) => {
        written.push(String(chunk));
        for (const [piece, isPrivate, number, letter] of String(chunk).matchAll(pieces))
          if (letter === undefined) type(piece);
          else obey(`${isPrivate}${letter}`, number ?? '');
        done();
      },
    }),
    { columns, rows },
  );
  const rowAt = (row: number): Row => {
    while (all.length <= row) all.push({ letters: [], goesOn: false });
    top = Math.max(top, row + 1 - stdout.rows);
    return all[row] ?? { letters: [], goesOn: false };
  };
  const type = (letter: string): void => {
    if (letter === '\r') at.column = 0;
    else if (letter === '\n') {
      at = { row: at.row + 1, column: 0 };
      rowAt(at.row).goesOn = false;
    } else {
      if (letter < ' ') throw new Error(`an unknown control character: ${letter.codePointAt(0)}`);
      const width = wide.test(letter) ? 2 : 1;
      if (at.column + width > stdout.columns && breaksLines) {
        at = { row: at.row + 1, column: 0 };
        all.splice(at.row, 1, { letters: [], goesOn: true });
      }
      const column = Math.min(at.column, stdout.columns - width);
      const { letters } = rowAt(at.row);
      while (letters.length < column) letters.push(' ');
      letters.splice(column, width, letter, ...(width === 2 ? [''] : []));
      at.column = column + width;
    }
  };
  const obey = (what: string, number: string): void => {
    const isOn = what === '?h';
    if (what === 'm') return;
    if (what === 'A') at.row = Math.max(top, at.row - Number(number || 1));
    else if (what === 'K' || what === 'J') {
      // Behind the last letter of a full row the cursor stands on that letter.
      rowAt(at.row).letters.splice(Math.min(at.column, stdout.columns - 1));
      if (what === 'J') all = all.slice(0, at.row + 1);
    } else if (what.startsWith('?') && number === '25') cursorIsShown = isOn;
    else if (what.startsWith('?') && number === '7') breaksLines = isOn;
    else throw new Error(`an unknown sequence: ${what} ${number}`);
  };
  const text = ({ letters }: Row): string => letters.join('').trimEnd();
  const shown = (some: readonly Row[]): string[] => {
    const texts = some.map(text);
    return texts.slice(0, texts.findLastIndex((line) => line !== '') + 1);
  };
  return {
    stdout,
    written,
    lines: () => shown(all),
    visible: () => shown(all.slice(top, top + stdout.rows)),
    get cursorIsShown() {
      return cursorIsShown;
    },
    resize: (nowColumns, nowRows) => {
      const whole: string[][] = [];
      let cursor = { line: 0, column: 0 };
      for (const [index, { letters, goesOn }] of all.entries()) {
        const before = goesOn ? whole.pop() : undefined;
        whole.push([...(before ?? []), ...letters]);
        if (index === at.row) cursor = { line: whole.length - 1, column: (before?.length ?? 0) + at.column };
      }
      all = [];
      for (const [index, letters] of whole.entries()) {
        if (index === cursor.line)
          at = { row: all.length + Math.floor(cursor.column / nowColumns), column: cursor.column % nowColumns };
        for (let from = 0; from === 0 || from < letters.length; from += nowColumns)
          all.push({ letters: letters.slice(from, from + nowColumns), goesOn: from > 0 });
      }
      top = Math.max(0, all.length - nowRows);
      Object.assign(stdout, { columns: nowColumns, rows: nowRows });
      stdout.emit('resize');
    },
  };
};
