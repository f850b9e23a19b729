import { parseNetwork } from '../network.ts';
import type { Address, AnchorRule, Endpoint, Filter, Match, Ports, Scrub, Section, Translation } from '../rule.ts';
import type { Cursor } from './tokens.ts';

const anyEndpoint: Endpoint = { not: false, address: { kind: 'any' } };

const interfaceName = /^[a-z]+\d*(:(network|broadcast|peer|0))*$/;
const protocols = ['tcp', 'udp', 'icmp', 'icmp6', 'ipv6-icmp', 'gre', 'esp', 'ah', 'igmp'];
const services: Readonly<Record<string, number>> = { ssh: 22, domain: 53, http: 80, https: 443, vnc: 5900 };

const portNumber = (cursor: Cursor, text: string): number => {
  const port = services[text] ?? (/^\d{1,5}$/.test(text) ? Number(text) : Number.NaN);
  if (!(port <= 65_535)) throw cursor.error(/^\d+$/.test(text) ? `illegal port value ${text}` : `unknown port ${text}`);
  return port;
};

const parsePorts = (cursor: Cursor): Ports => {
  const kind = cursor.takeOneOf(['=', '!=', '<=', '>=', '<', '>']) ?? '=';
  const text = cursor.word();
  const [first = '', last, ...more] = text.split(':');
  if (more.length > 0) throw cursor.error();
  if (last !== undefined) return { kind: ':', first: portNumber(cursor, first), last: portNumber(cursor, last) };
  const port = portNumber(cursor, first);
  const between = cursor.takeOneOf(['><', '<>']);
  return between === undefined
    ? { kind, first: port, last: port }
    : { kind: between, first: port, last: portNumber(cursor, cursor.word()) };
};

/** The name of a table, in its angle brackets. */
export const parseTableName = (cursor: Cursor): string => {
  cursor.expect('<');
  const name = cursor.word();
  cursor.expect('>');
  if (name.length > 31) throw cursor.error(`table name '${name}' too long`);
  return name;
};

const parseAddress = (cursor: Cursor): Address => {
  if (cursor.take('any')) return { kind: 'any' };
  if (cursor.peek().text === '<') return { kind: 'table', name: parseTableName(cursor) };
  if (cursor.take('(')) {
    const name = cursor.word();
    cursor.expect(')');
    return { kind: 'interface', text: `(${name})` };
  }
  const text = cursor.word();
  const network = parseNetwork(text);
  if (network !== undefined) return { kind: 'network', network };
  // pfctl would resolve a host name; in Tartan's rules that is a mistake, and there is no DNS here.
  if (!interfaceName.test(text) || text.includes('/')) throw cursor.error(`no IP address found for ${text}`);
  return { kind: 'interface', text };
};

const parseEndpoints = (cursor: Cursor): readonly Endpoint[] => {
  const hosts =
    cursor.peek().text === 'port'
      ? [anyEndpoint]
      : cursor.list((): Endpoint => ({ not: cursor.take('!'), address: parseAddress(cursor) }));
  if (!cursor.take('port')) return hosts;
  const ports = cursor.list(() => parsePorts(cursor));
  return hosts.flatMap((host) => ports.map((port) => ({ ...host, port })));
};

const familyOf = ({ address }: Endpoint): 4 | 6 | undefined =>
  address.kind === 'network' ? address.network.family : undefined;

const oneFamily = (...families: readonly (4 | 6 | undefined)[]): { family?: 4 | 6 } | undefined => {
  const known = new Set(families.filter((family) => family !== undefined));
  if (known.size > 1) return undefined;
  const [family] = known;
  return family === undefined ? {} : { family };
};

/**
 * `in on en0 inet proto tcp from A to B port C`: every combination of its lists. `between` parses keywords between direction and interface
 * (`quick`, `log`). Combinations that mix IPv4 and IPv6 are omitted, as pfctl does.
 */
const parseMatches = (cursor: Cursor, between: () => void = () => {}): readonly Match[] => {
  const direction = cursor.takeOneOf(['in', 'out']);
  between();
  const interfaces = cursor.take('on')
    ? cursor.list(() => ({ not: cursor.take('!'), name: cursor.word() }))
    : [undefined];
  const wanted = cursor.take('inet') ? 4 : cursor.take('inet6') ? 6 : undefined;
  const protocolList = cursor.take('proto')
    ? cursor.list(() => {
        const name = cursor.word();
        if (!protocols.includes(name) && !/^\d{1,3}$/.test(name)) throw cursor.error(`unknown protocol ${name}`);
        return name;
      })
    : [undefined];
  let from: readonly Endpoint[] = [anyEndpoint];
  let to: readonly Endpoint[] = [anyEndpoint];
  if (!cursor.take('all')) {
    if (cursor.take('from')) from = parseEndpoints(cursor);
    if (cursor.take('to')) to = parseEndpoints(cursor);
  }
  const hasPort = [...from, ...to].some(({ port }) => port !== undefined);
  if (hasPort && !protocolList.every((name) => name === 'tcp' || name === 'udp'))
    throw cursor.error('port only applies to tcp/udp');

  const matches = interfaces.flatMap((on) =>
    protocolList.flatMap((protocol) =>
      from.flatMap((source) =>
        to.flatMap((target): Match[] => {
          const family = oneFamily(wanted, familyOf(source), familyOf(target));
          if (family === undefined) return [];
          return [
            {
              ...(direction === undefined ? {} : { direction }),
              ...(on === undefined ? {} : { on }),
              ...family,
              ...(protocol === undefined ? {} : { protocol }),
              from: source,
              to: target,
            },
          ];
        }),
      ),
    ),
  );
  if (matches.length === 0) throw cursor.error('rule expands to no valid combination');
  return matches;
};

const takeWords = (cursor: Cursor, words: readonly string[]): readonly string[] => {
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

/** Options after the addresses of a filter rule, in any order. Only state and flags are interpreted, and only for printing. */
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
  // pass keeps state by default; for TCP it then only checks the first packet.
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
    quick = takeWords(cursor, ['log', 'quick']).includes('quick');
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
  takeWords(cursor, ['log']);
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

export const parseAnchorRule = (cursor: Cursor, section: Section): readonly AnchorRule[] => {
  const anchor = cursor.word();
  if (!anchorName.test(anchor)) throw cursor.error(`anchor name '${anchor}' is invalid`);
  let quick = false;
  const matches = parseMatches(cursor, () => {
    quick = takeWords(cursor, ['quick']).length > 0;
  });
  cursor.end();
  return matches.map((match) => ({ kind: 'anchor', section, anchor, quick, match }));
};
