import type { Network } from './network.ts';

/** What stands in one ruleset, main or anchor, after lists have been taken apart. Only what hosts of ours meet of `pf.conf(5)`. */
export type Entry = Filter | Translation | Scrub | Hook;

/** The kinds of rulesets that a main ruleset has hooks for: a hook of one kind does nothing for another. */
export type Section = 'scrub' | 'nat' | 'rdr' | 'binat' | 'dummynet' | 'filter';

/** Which packets a rule is about. What is undefined does not matter. */
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
  /** `en0`, `(en0)` or `en0:network`: whatever address the interface has. */
  | { readonly kind: 'interface'; readonly text: string };

export interface Ports {
  readonly kind: '=' | '!=' | '<' | '<=' | '>' | '>=' | ':' | '><' | '<>';
  readonly first: number;
  readonly last: number;
}

export interface Filter {
  readonly kind: 'filter';
  readonly action: 'pass' | 'block';
  /** `drop` is silent: the sender waits until it gives up. */
  readonly answer: 'drop' | 'return' | '';
  readonly quick: boolean;
  readonly match: Match;
  /** What pfctl prints behind the addresses: `flags S/SA keep state`. */
  readonly trailer: string;
}

export interface Translation {
  readonly kind: 'translation';
  readonly action: 'nat' | 'rdr' | 'binat';
  readonly no: boolean;
  readonly pass: boolean;
  readonly match: Match;
  /** Where to: `(en0)`, an address, perhaps with a port. */
  readonly target: string;
}

export interface Scrub {
  readonly kind: 'scrub';
  readonly match: Match;
  readonly trailer: string;
}

/** `anchor "com.apple/*"`: here the rules of that anchor are looked at. Without it they are never looked at (INC-254, INC-255). */
export interface Hook {
  readonly kind: 'hook';
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
  readonly entries: readonly Entry[];
  readonly tables: ReadonlyMap<string, Table>;
}

export const emptyRuleset: Ruleset = { entries: [], tables: new Map() };

/** In the order in which a file must have them. */
export const sectionOf = (entry: Entry): Section => {
  switch (entry.kind) {
    case 'filter':
    case 'scrub':
      return entry.kind;
    case 'translation':
      return entry.action;
    case 'hook':
      return entry.section;
  }
};
