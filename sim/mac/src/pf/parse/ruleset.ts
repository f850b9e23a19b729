import { type Network, parseNetwork } from '../network.ts';
import type { PfRule, Section, Table } from '../rule.ts';
import { parseAnchorRule, parseFilter, parseScrub, parseTableName, parseTranslation } from './rules.ts';
import { Cursor, tokenize } from './tokens.ts';

/** One valid file. Keeps the lines of tables and loads, for errors that appear only when they are loaded. */
export interface ParsedFile {
  readonly entries: readonly PfRule[];
  readonly tables: readonly { readonly table: Table; readonly line: number }[];
  readonly loads: readonly { readonly anchor: string; readonly file: string; readonly line: number }[];
  /** `set skip on lo0`. */
  readonly skip: readonly string[];
}

/** Tables, macros and loads are allowed anywhere; the rest in this order (Apple has dummynet before filtering). */
const order: Readonly<Record<Section | 'option', number>> = {
  option: 1,
  scrub: 2,
  nat: 3,
  rdr: 3,
  binat: 3,
  dummynet: 4,
  filter: 5,
};
const anchorSections = {
  anchor: 'filter',
  'nat-anchor': 'nat',
  'rdr-anchor': 'rdr',
  'binat-anchor': 'binat',
  'scrub-anchor': 'scrub',
  'dummynet-anchor': 'dummynet',
} as const;

const parseTable = (cursor: Cursor): Table => {
  const name = parseTableName(cursor);
  const addresses: { not: boolean; network: Network }[] = [];
  let persist = false;
  for (;;) {
    if (cursor.take('persist')) persist = true;
    else if (cursor.peek().text === '{') {
      cursor.next();
      while (!cursor.take('}')) {
        const not = cursor.take('!');
        const text = cursor.word();
        const network = parseNetwork(text);
        if (network === undefined) throw cursor.error(`no IP address found for ${text}`);
        addresses.push({ not, network });
        cursor.take(',');
      }
    } else if (!cursor.take('const') && !cursor.take('counters')) break;
  }
  cursor.end();
  return { name, persist, addresses };
};

/** `set skip on { lo0 }` has an effect; the other options are parsed and ignored. */
const parseOption = (cursor: Cursor): readonly string[] => {
  const option = cursor.word();
  if (option === 'skip') {
    cursor.expect('on');
    const interfaces = cursor.list(() => cursor.word());
    cursor.end();
    return interfaces;
  }
  if (cursor.peek().kind === 'end') throw cursor.error();
  while (cursor.peek().kind !== 'end') cursor.next();
  cursor.end();
  return [];
};

/** Parses the input of `pfctl -f`. Throws only `PfSyntaxError`. */
export const parseRuleset = (file: string, source: string): ParsedFile => {
  const cursor = new Cursor(file, tokenize(file, source));
  const parsed = {
    entries: [] as PfRule[],
    tables: [] as { table: Table; line: number }[],
    loads: [] as { anchor: string; file: string; line: number }[],
    skip: [] as string[],
  };
  let reached = 0;
  const enter = (section: keyof typeof order): void => {
    if (order[section] < reached)
      throw cursor.error('Rules must be in order: options, normalization, queueing, translation, filtering');
    reached = order[section];
  };

  while (!cursor.done) {
    const { line, kind } = cursor.peek();
    if (kind === 'end') {
      cursor.next();
      continue;
    }
    const keyword = cursor.takeOneOf([
      'anchor',
      'nat-anchor',
      'rdr-anchor',
      'binat-anchor',
      'scrub-anchor',
      'dummynet-anchor',
    ]);
    if (keyword !== undefined) {
      enter(anchorSections[keyword]);
      parsed.entries.push(...parseAnchorRule(cursor, anchorSections[keyword]));
    } else if (cursor.take('set')) {
      enter('option');
      parsed.skip.push(...parseOption(cursor));
    } else if (cursor.take('table')) parsed.tables.push({ table: parseTable(cursor), line });
    else if (cursor.take('load')) {
      cursor.expect('anchor');
      const anchor = cursor.word();
      cursor.expect('from');
      parsed.loads.push({ anchor, file: cursor.word(), line });
      cursor.end();
    } else if (cursor.take('scrub')) {
      enter('scrub');
      parsed.entries.push(...parseScrub(cursor));
    } else {
      const no = cursor.take('no');
      const translation = cursor.takeOneOf(['nat', 'rdr', 'binat']);
      const filter = no || translation !== undefined ? undefined : cursor.takeOneOf(['pass', 'block']);
      if (translation !== undefined) {
        enter(translation);
        parsed.entries.push(...parseTranslation(cursor, translation, no));
      } else if (filter !== undefined) {
        enter('filter');
        parsed.entries.push(...parseFilter(cursor, filter));
      } else throw cursor.error();
    }
  }
  return parsed;
};
