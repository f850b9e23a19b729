import type { Network } from './network.ts';

/** The entries of one ruleset, main or anchor, after lists were expanded. Only the part of `pf.conf(5)` that Tartan's hosts use. */
export type PfRule = Filter | Translation | Scrub | AnchorRule;

/** The kinds of rules that have their own anchor rules: an anchor rule of one kind does not evaluate the others. */
export type Section = 'scrub' | 'nat' | 'rdr' | 'binat' | 'dummynet' | 'filter';

/** The packets that a rule matches. Undefined fields match everything. */
export interface Match {
  readonly direction?: 'in' | 'out';
  readonly on?: { readonly name: string; readonly not: boolean };
  readonly family?: 4 | 6;
  readonly protocol?: string;
  readonly from: Endpoint;
  readonly to: Endpoint;
}

export interface Endpoint {
  readonly not: boolean;
  readonly address: Address;
  readonly port?: Ports;
}

export type Address =
  | { readonly kind: 'any' }
  | { readonly kind: 'table'; readonly name: string }
  | { readonly kind: 'network'; readonly network: Network }
  /** `en0`, `(en0)` or `en0:network`: the current address of the interface. */
  | { readonly kind: 'interface'; readonly text: string };

export interface Ports {
  readonly kind: '=' | '!=' | '<' | '<=' | '>' | '>=' | ':' | '><' | '<>';
  readonly first: number;
  readonly last: number;
}

export interface Filter {
  readonly kind: 'filter';
  readonly action: 'pass' | 'block';
  /** `drop` sends no answer: the sender waits for its timeout. */
  readonly answer: 'drop' | 'return' | '';
  readonly quick: boolean;
  readonly match: Match;
  /** What pfctl prints after the addresses: `flags S/SA keep state`. */
  readonly trailer: string;
}

export interface Translation {
  readonly kind: 'translation';
  readonly action: 'nat' | 'rdr' | 'binat';
  readonly no: boolean;
  readonly pass: boolean;
  readonly match: Match;
  /** Target: `(en0)`, or an address, optionally with a port. */
  readonly target: string;
}

export interface Scrub {
  readonly kind: 'scrub';
  readonly match: Match;
  readonly trailer: string;
}

/** `anchor "com.apple/*"`: evaluates the rules of that anchor here. Without it they are never evaluated (INC-254, INC-255). */
export interface AnchorRule {
  readonly kind: 'anchor';
  readonly section: Section;
  readonly anchor: string;
  readonly quick: boolean;
  readonly match: Match;
}

export interface Table {
  readonly name: string;
  readonly persist: boolean;
  readonly addresses: readonly { readonly not: boolean; readonly network: Network }[];
}

export interface Ruleset {
  readonly entries: readonly PfRule[];
  readonly tables: ReadonlyMap<string, Table>;
}

export const emptyRuleset: Ruleset = { entries: [], tables: new Map() };

/** In the order required in a file. */
export const sectionOf = (entry: PfRule): Section => {
  switch (entry.kind) {
    case 'filter':
    case 'scrub':
      return entry.kind;
    case 'translation':
      return entry.action;
    case 'anchor':
      return entry.section;
  }
};

const addressText = (address: Address): string => {
  switch (address.kind) {
    case 'any':
      return 'any';
    case 'table':
      return `<${address.name}>`;
    case 'network':
      return address.network.text;
    case 'interface':
      return address.text;
  }
};

const portText = ({ kind, first, last }: Ports): string => {
  if (kind === ':') return ` port ${first}:${last}`;
  if (kind === '><' || kind === '<>') return ` port ${first} ${kind} ${last}`;
  return ` port ${kind} ${first}`;
};

const endpointText = ({ not, address, port }: Endpoint): string =>
  `${not ? '! ' : ''}${addressText(address)}${port === undefined ? '' : portText(port)}`;

const isAny = ({ not, address, port }: Endpoint): boolean => !not && address.kind === 'any' && port === undefined;

const joinWords = (...parts: readonly (string | false | undefined)[]): string =>
  parts.filter((part) => part !== false && part !== undefined && part !== '').join(' ');

const beforeAddresses = ({ direction, on }: Match, ...between: readonly (string | false)[]): string =>
  joinWords(direction, ...between, on !== undefined && `on ${on.not ? '! ' : ''}${on.name}`);

const addresses = ({ family, protocol, from, to }: Match, spelledOut = false): string =>
  joinWords(
    family !== undefined && (family === 4 ? 'inet' : 'inet6'),
    protocol !== undefined && `proto ${protocol}`,
    !spelledOut && isAny(from) && isAny(to) ? 'all' : `from ${endpointText(from)} to ${endpointText(to)}`,
  );

const anchorKeywords: Readonly<Record<Section, string>> = {
  filter: 'anchor',
  nat: 'nat-anchor',
  rdr: 'rdr-anchor',
  binat: 'binat-anchor',
  scrub: 'scrub-anchor',
  dummynet: 'dummynet-anchor',
};

/** A rule as `pfctl -s` prints it: lists expanded, with explicit defaults. */
export const printRule = (entry: PfRule): string => {
  const { match } = entry;
  switch (entry.kind) {
    case 'filter':
      return joinWords(
        entry.action,
        entry.answer,
        beforeAddresses(match, entry.quick && 'quick'),
        addresses(match),
        entry.trailer,
      );
    case 'translation': {
      const target = entry.target === '' ? '' : `-> ${entry.target}`;
      return joinWords(
        entry.no && 'no',
        entry.action,
        entry.pass && 'pass',
        beforeAddresses(match),
        addresses(match, true),
        target,
        // pfctl prints the pool type for the dynamic address of an interface.
        entry.action === 'nat' &&
          entry.target.startsWith('(') &&
          !entry.target.includes('round-robin') &&
          'round-robin',
      );
    }
    case 'scrub':
      return joinWords('scrub', beforeAddresses(match), addresses(match), entry.trailer);
    case 'anchor':
      return joinWords(
        `${anchorKeywords[entry.section]} "${entry.anchor}"`,
        beforeAddresses(match, entry.quick && 'quick'),
        addresses(match),
        entry.section === 'scrub' && 'fragment reassemble',
      );
  }
};
