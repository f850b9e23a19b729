/** pfctl's error about a file. The only error of the parser. */
export class PfSyntaxError extends Error {
  readonly file: string;
  readonly line: number;

  constructor(file: string, line: number, message: string) {
    super(message);
    this.name = 'PfSyntaxError';
    this.file = file;
    this.line = line;
  }
}

/** A word, a symbol, or the end of a statement. */
interface Token {
  readonly kind: 'word' | 'quoted' | 'symbol' | 'end';
  readonly text: string;
  readonly line: number;
}

const symbols = ['->', '!=', '<=', '>=', '<>', '><', '{', '}', '(', ')', '<', '>', '!', '=', ','];
const endOfWord = /[\s{}()<>!=,#"]/;
const macroName = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** Macros can only reference earlier macros, so no sane file needs as many. */
const deepestMacro = 16;

/**
 * Splits the text of a pf.conf into tokens. A statement ends with its line, unless a backslash or an open brace continues it. A macro
 * (`$name`) is replaced by its text, which is then parsed in place; macros are defined in the same pass.
 */
export const tokenize = (file: string, source: string): readonly Token[] => {
  const macros = new Map<string, string>();
  const found: Token[] = [];
  let braces = 0;

  const push = (kind: Token['kind'], text: string, line: number): void => {
    if (text === '{') braces += 1;
    if (text === '}') braces -= 1;
    found.push({ kind, text, line });
  };

  /** `name = value` at the start of a statement: removed from the tokens, stored as text. */
  const takeMacro = (): void => {
    const start = found.findLastIndex(({ kind }) => kind === 'end') + 1;
    const [name, equals, ...value] = found.slice(start);
    if (name?.kind !== 'word' || equals?.text !== '=') return;
    if (!macroName.test(name.text) || value.length === 0) throw new PfSyntaxError(file, equals.line, 'syntax error');
    macros.set(name.text, value.map(({ text }) => text).join(' '));
    found.length = start;
  };

  const read = (text: string, firstLine: number, depth: number): void => {
    let line = firstLine;
    let at = 0;
    const isMacroText = depth > 0;
    while (at < text.length) {
      const rest = text.slice(at, at + 2);
      const character = rest.charAt(0);
      if (rest === '\\\n') {
        line += 1;
        at += 2;
      } else if (character === '\n') {
        if (braces <= 0 && !isMacroText) {
          takeMacro();
          push('end', '', line);
          braces = 0;
        }
        line += 1;
        at += 1;
      } else if (character.trim() === '') at += 1;
      else if (character === '#') {
        const end = text.indexOf('\n', at);
        at = end === -1 ? text.length : end;
      } else if (character === '"') {
        const end = text.indexOf('"', at + 1);
        if (end === -1) throw new PfSyntaxError(file, line, 'syntax error');
        const quoted = text.slice(at + 1, end);
        push('quoted', quoted, line);
        line += quoted.split('\n').length - 1;
        at = end + 1;
      } else {
        const symbol = symbols.find((each) => text.startsWith(each, at));
        if (symbol !== undefined) {
          push('symbol', symbol, line);
          at += symbol.length;
          continue;
        }
        let end = at;
        while (end < text.length && !endOfWord.test(text.charAt(end)) && !text.startsWith('->', end)) end += 1;
        // A lone backslash, or the `-` of an arrow, is a word of one character.
        const word = text.slice(at, Math.max(end, at + 1));
        at += word.length;
        if (!word.startsWith('$')) push('word', word, line);
        else {
          const value = macros.get(word.slice(1));
          if (value === undefined) throw new PfSyntaxError(file, line, `macro '${word.slice(1)}' not defined`);
          if (depth >= deepestMacro) throw new PfSyntaxError(file, line, 'syntax error');
          read(value, line, depth + 1);
        }
      }
    }
    if (!isMacroText) {
      takeMacro();
      push('end', '', line);
    }
  };

  read(source, 1, 0);
  return found;
};

/** A position in the tokens of one file. Anything unexpected is a syntax error in its line. */
export class Cursor {
  readonly file: string;
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(file: string, tokens: readonly Token[]) {
    this.file = file;
    this.#tokens = tokens;
  }

  get done(): boolean {
    return this.#at >= this.#tokens.length;
  }

  get line(): number {
    return (this.#tokens[this.#at] ?? this.#tokens.at(-1))?.line ?? 1;
  }

  error(message = 'syntax error'): PfSyntaxError {
    return new PfSyntaxError(this.file, this.line, message);
  }

  peek(): Token {
    return this.#tokens[this.#at] ?? { kind: 'end', text: '', line: this.line };
  }

  next(): Token {
    const token = this.peek();
    this.#at += 1;
    return token;
  }

  /** Skips this word or symbol, if it is next. Quoted text is never a keyword. */
  take(text: string): boolean {
    const token = this.peek();
    if (token.kind === 'quoted' || token.kind === 'end' || token.text !== text) return false;
    this.#at += 1;
    return true;
  }

  /** Skips one of these words, if it is next. */
  takeOneOf<const Word extends string>(words: readonly Word[]): Word | undefined {
    return words.find((word) => this.take(word));
  }

  expect(text: string): void {
    if (!this.take(text)) throw this.error();
  }

  /** A word or a quoted text. */
  word(): string {
    const token = this.peek();
    if (token.kind !== 'word' && token.kind !== 'quoted') throw this.error();
    this.#at += 1;
    return token.text;
  }

  end(): void {
    if (this.peek().kind !== 'end') throw this.error();
    this.#at += 1;
  }

  /** One item, or a list in braces, separated by commas or blanks. */
  list<Item>(item: () => Item): readonly Item[] {
    if (!this.take('{')) return [item()];
    const items: Item[] = [];
    while (!this.take('}')) {
      items.push(item());
      this.take(',');
    }
    if (items.length === 0) throw this.error();
    return items;
  }
}
