import { Writable } from 'node:stream';

/** One row of a terminal. */
interface Row {
  readonly letters: string[];
  /** It continues the row above, which was full. */
  goesOn: boolean;
}

/** A terminal emulator with the features used here: shows what people see after all output. */
export interface TestScreen {
  readonly stdout: Writable & { columns: number; rows: number };
  /** Each chunk as it was written. */
  readonly written: string[];
  /** All lines, also those that have scrolled away. Trailing blank lines are omitted. */
  lines(): string[];
  /** Only those on the screen. */
  visible(): string[];
  readonly cursorIsShown: boolean;
  /** Resizes the window: lines that are now too long are wrapped, and wrapped ones that fit are joined again. */
  resize(columns: number, rows: number): void;
}

const escape = '\u001B';
/** Characters that take two columns. */
const wide = /\p{Emoji_Presentation}|\p{Script=Han}/u;
const pieces = new RegExp(`${escape}\\[(\\??)(\\d*)([A-Za-z])|[\\s\\S]`, 'gu');

export const testScreen = (columns: number, rows: number): TestScreen => {
  const written: string[] = [];
  let all: Row[] = [{ letters: [], goesOn: false }];
  let at = { row: 0, column: 0 };
  /** Rows above have scrolled away: they are visible, but the cursor cannot reach them. */
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
      // After the last character of a full row, the cursor stands on that character.
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
