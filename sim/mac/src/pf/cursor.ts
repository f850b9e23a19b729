import type { Token } from './lexer.ts';
import { PfSyntaxError } from './syntax-error.ts';

/** A place in the tokens of one file. Everything that does not fit is a syntax error of the line it stands in. */
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

  /** Goes past this word or symbol, if it is there. Text in quotes is never a keyword. */
  take(text: string): boolean {
    const token = this.peek();
    if (token.kind === 'quoted' || token.kind === 'end' || token.text !== text) return false;
    this.#at += 1;
    return true;
  }

  /** The one of these that is there, if any. */
  takeOneOf<const Word extends string>(words: readonly Word[]): Word | undefined {
    return words.find((word) => this.take(word));
  }

  expect(text: string): void {
    if (!this.take(text)) throw this.error();
  }

  /** A word or a text in quotes. */
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

  /** One of something, or a list of them in braces, parted by commas or blanks. */
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
