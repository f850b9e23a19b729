import type { Address, Endpoint, Entry, Match, Ports, Section } from './rule.ts';

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

const words = (...parts: readonly (string | false | undefined)[]): string =>
  parts.filter((part) => part !== false && part !== undefined && part !== '').join(' ');

const beforeAddresses = ({ direction, on }: Match, ...between: readonly (string | false)[]): string =>
  words(direction, ...between, on !== undefined && `on ${on.not ? '! ' : ''}${on.name}`);

const addresses = ({ family, protocol, from, to }: Match, spelledOut = false): string =>
  words(
    family !== undefined && (family === 4 ? 'inet' : 'inet6'),
    protocol !== undefined && `proto ${protocol}`,
    !spelledOut && isAny(from) && isAny(to) ? 'all' : `from ${endpointText(from)} to ${endpointText(to)}`,
  );

const hookWords: Readonly<Record<Section, string>> = {
  filter: 'anchor',
  nat: 'nat-anchor',
  rdr: 'rdr-anchor',
  binat: 'binat-anchor',
  scrub: 'scrub-anchor',
  dummynet: 'dummynet-anchor',
};

/** A rule as `pfctl -s` prints it: lists taken apart, defaults spelled out. */
export const printRule = (entry: Entry): string => {
  const { match } = entry;
  switch (entry.kind) {
    case 'filter':
      return words(
        entry.action,
        entry.answer,
        beforeAddresses(match, entry.quick && 'quick'),
        addresses(match),
        entry.trailer,
      );
    case 'translation': {
      const target = entry.target === '' ? '' : `-> ${entry.target}`;
      return words(
        entry.no && 'no',
        entry.action,
        entry.pass && 'pass',
        beforeAddresses(match),
        addresses(match, true),
        target,
        // A pool of one that follows its interface is shown with its way to choose.
        entry.action === 'nat' &&
          entry.target.startsWith('(') &&
          !entry.target.includes('round-robin') &&
          'round-robin',
      );
    }
    case 'scrub':
      return words('scrub', beforeAddresses(match), addresses(match), entry.trailer);
    case 'hook':
      return words(
        `${hookWords[entry.section]} "${entry.anchor}"`,
        beforeAddresses(match, entry.quick && 'quick'),
        addresses(match),
        entry.section === 'scrub' && 'fragment reassemble',
      );
  }
};
