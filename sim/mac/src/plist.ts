/** A value of a property list. Dates and data stay texts. */
export type PlistValue = string | number | boolean | readonly PlistValue[] | PlistDict;

export interface PlistDict {
  readonly [key: string]: PlistValue;
}

export class MalformedPlist extends Error {}

export const isDict = (value: PlistValue | undefined): value is PlistDict =>
  typeof value === 'object' && !Array.isArray(value);

type Token =
  | { readonly kind: 'open' | 'close' | 'empty'; readonly name: string }
  | { readonly kind: 'text'; readonly text: string };

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** A `&` that starts no entity makes the whole file unreadable, without an error message (INC-226). */
const unescape = (text: string): string =>
  text.replace(
    /&(?:#x([0-9a-fA-F]+);|#([0-9]+);|([a-z]+);)?/g,
    (whole, hex?: string, decimal?: string, name?: string) => {
      const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
      const found = name === undefined ? undefined : entities[name];
      if (found !== undefined) return found;
      if (name !== undefined || Number.isNaN(code)) throw new MalformedPlist(`"${whole}" is no entity`);
      return String.fromCodePoint(code);
    },
  );

/** launchd ignores comments, the XML declaration and the document type. */
const grammar =
  /<!--[\s\S]*?-->|<\?[\s\S]*?\?>|<!DOCTYPE[^>]*>|<(\/?)([a-z]+)((?:\s+[a-zA-Z:]+\s*=\s*(?:"[^"<&]*"|'[^'<&]*'))*)\s*(\/?)>|([^<]+)/y;

const tokensOf = (xml: string): Token[] => {
  const tokens: Token[] = [];
  grammar.lastIndex = 0;
  while (grammar.lastIndex < xml.length) {
    const at = grammar.lastIndex;
    const match = grammar.exec(xml);
    if (!match) throw new MalformedPlist(`not understood: ${xml.slice(at, at + 20)}`);
    const [, slash, name, , empty, text] = match;
    if (text !== undefined) tokens.push({ kind: 'text', text: unescape(text) });
    else if (name !== undefined) tokens.push({ kind: slash ? 'close' : empty ? 'empty' : 'open', name });
  }
  return tokens;
};

/** Parses an XML property list as strictly as macOS does. Throws `MalformedPlist`. */
export const parsePlist = (xml: string): PlistValue => {
  const tokens = tokensOf(xml.replace(/^\uFEFF/, ''));
  let at = 0;

  /** The next token, without white space between elements. */
  const next = (): Token => {
    let token = tokens[at++];
    while (token?.kind === 'text' && token.text.trim() === '') token = tokens[at++];
    if (token === undefined) throw new MalformedPlist('ends too early');
    return token;
  };

  const isNext = (kind: Token['kind'], name: string): boolean => {
    const before = at;
    const token = next();
    const found = token.kind === kind && token.kind !== 'text' && token.name === name;
    if (!found) at = before;
    return found;
  };

  const expect = (kind: Token['kind'], name: string): void => {
    if (!isNext(kind, name)) throw new MalformedPlist(`expected ${kind} ${name}`);
  };

  /** Text up to the end of its element, including white space. */
  const textOf = (name: string): string => {
    const token = tokens[at];
    if (token?.kind !== 'text') {
      expect('close', name);
      return '';
    }
    at += 1;
    expect('close', name);
    return token.text;
  };

  const dict = (): PlistDict => {
    const entries: [string, PlistValue][] = [];
    while (!isNext('close', 'dict')) {
      expect('open', 'key');
      entries.push([textOf('key'), value()]);
    }
    return Object.fromEntries(entries);
  };

  const array = (): PlistValue[] => {
    const items: PlistValue[] = [];
    while (!isNext('close', 'array')) items.push(value());
    return items;
  };

  const numberIn = (name: string): number => {
    const text = textOf(name).trim();
    if (!(name === 'integer' ? /^[+-]?\d+$/ : /^[+-]?[\d.]+(?:[eE][+-]?\d+)?$/).test(text)) {
      throw new MalformedPlist(`"${text}" is no ${name}`);
    }
    return Number(text);
  };

  const opened = (name: string): PlistValue => {
    switch (name) {
      case 'dict':
        return dict();
      case 'array':
        return array();
      case 'string':
      case 'data':
      case 'date':
        return textOf(name);
      case 'integer':
      case 'real':
        return numberIn(name);
      case 'true':
      case 'false':
        expect('close', name);
        return name === 'true';
      default:
        throw new MalformedPlist(`<${name}> is no value`);
    }
  };

  const empties: Readonly<Record<string, PlistValue>> = { true: true, false: false, dict: {}, array: [], string: '' };

  const value = (): PlistValue => {
    const token = next();
    if (token.kind === 'open') return opened(token.name);
    const empty = token.kind === 'empty' ? empties[token.name] : undefined;
    if (empty === undefined) throw new MalformedPlist('a value is missing');
    return empty;
  };

  expect('open', 'plist');
  const found = value();
  expect('close', 'plist');
  if (tokens.slice(at).some((token) => token.kind !== 'text' || token.text.trim() !== '')) {
    throw new MalformedPlist('goes on after its end');
  }
  return found;
};
