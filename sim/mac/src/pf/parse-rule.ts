import type { Cursor } from './cursor.ts';
import { parseMatches } from './parse-match.ts';
import type { Filter, Hook, Match, Scrub, Section, Translation } from './rule.ts';

const takeAll = (cursor: Cursor, words: readonly string[]): readonly string[] => {
  const taken: string[] = [];
  for (let word = cursor.takeOneOf(words); word !== undefined; word = cursor.takeOneOf(words)) taken.push(word);
  return taken;
};

const inParentheses = (cursor: Cursor): string => {
  if (!cursor.take('(')) return '';
  const words: string[] = [];
  while (!cursor.take(')')) {
    const token = cursor.next();
    if (token.kind === 'end') throw cursor.error();
    words.push(token.text);
  }
  return ` (${words.join(' ')})`;
};

/** What may follow the addresses of a filter rule, in any order. Only state and flags are given a meaning, and that in print only. */
const parseFilterOptions = (cursor: Cursor): { flags?: string; state?: string; rest: readonly string[] } => {
  const found: { flags?: string; state?: string; rest: string[] } = { rest: [] };
  while (cursor.peek().kind !== 'end') {
    const kind = cursor.takeOneOf(['keep', 'modulate', 'synproxy', 'no']);
    if (kind !== undefined) {
      cursor.expect('state');
      found.state = `${kind} state${inParentheses(cursor)}`;
    } else if (cursor.take('flags')) found.flags = cursor.word();
    else if (cursor.take('allow-opts')) found.rest.push('allow-opts');
    else {
      const option = cursor.takeOneOf(['label', 'tag', 'tagged', 'user', 'group', 'icmp-type', 'icmp6-type', 'tos']);
      if (option === undefined) throw cursor.error();
      const value = cursor.word();
      found.rest.push(`${option} ${option === 'label' ? `"${value}"` : value}`);
    }
  }
  return found;
};

const trailerOf = (
  action: Filter['action'],
  { protocol }: Match,
  { flags, state, rest }: ReturnType<typeof parseFilterOptions>,
): string => {
  // pass keeps state unless told otherwise; for TCP it looks at the first packet only.
  const stateful = state ?? (action === 'pass' ? 'keep state' : undefined);
  const keeps = stateful !== undefined && !stateful.startsWith('no ');
  const shownFlags = flags ?? (keeps && (protocol === undefined || protocol === 'tcp') ? 'S/SA' : undefined);
  return [
    ...(shownFlags === undefined ? [] : [`flags ${shownFlags}`]),
    ...(stateful === undefined ? [] : [stateful]),
    ...rest,
  ].join(' ');
};

export const parseFilter = (cursor: Cursor, action: Filter['action']): readonly Filter[] => {
  const answered = action === 'block' ? cursor.takeOneOf(['drop', 'return-rst', 'return-icmp', 'return']) : undefined;
  if (answered === 'return-icmp') inParentheses(cursor);
  let quick = false;
  const matches = parseMatches(cursor, () => {
    quick = takeAll(cursor, ['log', 'quick']).includes('quick');
  });
  const options = parseFilterOptions(cursor);
  cursor.end();
  return matches.map((match) => ({
    kind: 'filter',
    action,
    answer: action === 'pass' ? '' : answered === undefined || answered === 'drop' ? 'drop' : 'return',
    quick,
    match,
    trailer: trailerOf(action, match, options),
  }));
};

const restOfStatement = (cursor: Cursor): string => {
  const words: string[] = [];
  while (cursor.peek().kind !== 'end') words.push(cursor.next().text);
  return words.join(' ').replaceAll('( ', '(').replaceAll(' )', ')');
};

export const parseTranslation = (
  cursor: Cursor,
  action: Translation['action'],
  no: boolean,
): readonly Translation[] => {
  const pass = cursor.take('pass');
  takeAll(cursor, ['log']);
  const matches = parseMatches(cursor);
  let target = '';
  if (no) cursor.end();
  else {
    cursor.expect('->');
    target = restOfStatement(cursor);
    if (target === '') throw cursor.error();
    cursor.end();
  }
  return matches.map((match) => ({ kind: 'translation', action, no, pass, match, target }));
};

const scrubOptions = ['no-df', 'random-id', 'min-ttl', 'max-mss', 'fragment', 'reassemble', 'crop', 'drop-ovl', 'tcp'];

export const parseScrub = (cursor: Cursor): readonly Scrub[] => {
  const matches = parseMatches(cursor);
  const words: string[] = [];
  while (cursor.peek().kind !== 'end') {
    const word = cursor.word();
    if (!scrubOptions.includes(word) && !/^\d+$/.test(word)) throw cursor.error();
    words.push(word);
  }
  cursor.end();
  const options = words.join(' ');
  const trailer = options.includes('fragment') ? options : `${options} fragment reassemble`.trim();
  return matches.map((match) => ({ kind: 'scrub', match, trailer }));
};

const anchorName = /^\/?[^/\s*]+(\/[^/\s*]+)*(\/\*)?$|^\*$/;

export const parseHook = (cursor: Cursor, section: Section): readonly Hook[] => {
  const anchor = cursor.word();
  if (!anchorName.test(anchor)) throw cursor.error(`anchor name '${anchor}' is invalid`);
  let quick = false;
  const matches = parseMatches(cursor, () => {
    quick = takeAll(cursor, ['quick']).length > 0;
  });
  cursor.end();
  return matches.map((match) => ({ kind: 'hook', section, anchor, quick, match }));
};
