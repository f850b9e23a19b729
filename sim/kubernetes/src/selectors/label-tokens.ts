/** A word, a symbol, or (text '') the end. `in` and `notin` are words: only their place says whether they are operators. */
export interface Token {
  kind: 'word' | 'symbol' | 'end';
  text: string;
}

const blank = /[ \t\r\n]*/y;
const symbol = /==|!=|[=!(),<>]/y;
const word = /[^=!(),<> \t\r\n]+/y;

/** Every character is either blank, a symbol or part of a word, so that this cannot fail. The last token is the end. */
export const labelTokens = (text: string): Token[] => {
  const tokens: Token[] = [];
  let position = 0;
  const take = (pattern: RegExp): string => {
    pattern.lastIndex = position;
    const found = pattern.exec(text)?.[0] ?? '';
    position += found.length;
    return found;
  };
  for (take(blank); position < text.length; take(blank)) {
    const found = take(symbol);
    tokens.push(found === '' ? { kind: 'word', text: take(word) } : { kind: 'symbol', text: found });
  }
  tokens.push({ kind: 'end', text: '' });
  return tokens;
};
