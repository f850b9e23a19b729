import { childAnchors, type Kernel, rulesetOf } from './kernel.ts';
import { contains, type Network, parseNetwork } from './network.ts';
import {
  type Endpoint,
  type Filter,
  type AnchorRule,
  type Match,
  type Ports,
  type Section,
  sectionOf,
  type Table,
  type Translation,
} from './rule.ts';

/** The first packet of a connection through this Mac. */
export interface Packet {
  readonly source: string;
  readonly destination: string;
  readonly protocol: 'tcp' | 'udp' | 'icmp';
  /** Of the destination. */
  readonly port?: number;
  /** Inbound and outbound interfaces, in this order. */
  readonly hops: readonly Hop[];
}

interface Hop {
  readonly direction: 'in' | 'out';
  readonly on: string;
}

/**
 * A virtual machine's packet is inbound on the bridge first, then outbound towards its destination. A single VM has the same address on
 * every host.
 */
export const fromVirtualMachine = (
  destination: string,
  {
    source = '192.168.64.2',
    protocol = 'tcp',
    port = 443,
    out = 'en0',
  }: Partial<Omit<Packet, 'hops'>> & { out?: string } = {},
): Packet => ({
  source,
  destination,
  protocol,
  port,
  hops: [
    { direction: 'in', on: 'bridge100' },
    { direction: 'out', on: out },
  ],
});

/** Anchors may reference each other in a circle; the kernel stops at this depth. */
const deepestAnchor = 64;

/** One packet at one interface, for matching. */
interface PacketAtHop {
  readonly hop: Hop;
  readonly source: Network;
  readonly destination: Network;
  readonly protocol: string;
  readonly port: number | undefined;
}

const portMatches = ({ kind, first, last }: Ports, port: number | undefined): boolean => {
  if (port === undefined) return false;
  switch (kind) {
    case '=':
      return port === first;
    case '!=':
      return port !== first;
    case '<':
      return port < first;
    case '<=':
      return port <= first;
    case '>':
      return port > first;
    case '>=':
      return port >= first;
    case ':':
      return port >= first && port <= last;
    case '><':
      return port > first && port < last;
    case '<>':
      return port < first || port > last;
  }
};

/** The most specific entry decides, so that `!` can make exceptions. */
const inTable = (table: Table | undefined, address: Network): boolean => {
  const hits = (table?.addresses ?? []).filter(({ network }) => contains(network, address));
  const best = hits.sort((a, b) => b.network.prefix - a.network.prefix)[0];
  return best !== undefined && !best.not;
};

/** A ruleset's own table, or else that of the main ruleset. */
const tableFor = (kernel: Kernel, anchor: string, name: string): Table | undefined =>
  rulesetOf(kernel, anchor).tables.get(name) ?? rulesetOf(kernel, '').tables.get(name);

interface Addresses {
  /** The address of an interface; `undefined` before it has one. */
  of(interfaceName: string): string | undefined;
}

const evaluator = (kernel: Kernel, addresses: Addresses) => {
  const endpointMatches = (anchor: string, { not, address, port }: Endpoint, at: Network, atPort?: number): boolean => {
    if (port !== undefined && !portMatches(port, atPort)) return false;
    const holds = (): boolean => {
      switch (address.kind) {
        case 'any':
          return true;
        case 'network':
          return contains(address.network, at);
        case 'table':
          return inTable(tableFor(kernel, anchor, address.name), at);
        case 'interface': {
          const own = parseNetwork(addresses.of(address.text.replace(/^\(|(:.*)?\)?$/g, '')) ?? '');
          return own !== undefined && contains(own, at);
        }
      }
    };
    return holds() !== not;
  };

  const matches = (anchor: string, match: Match, { hop, source, destination, protocol, port }: PacketAtHop): boolean =>
    (match.direction ?? hop.direction) === hop.direction &&
    (match.on === undefined || (match.on.name === hop.on) !== match.on.not) &&
    (match.family ?? destination.family) === destination.family &&
    (match.protocol ?? protocol) === protocol &&
    endpointMatches(anchor, match.from, source) &&
    endpointMatches(anchor, match.to, destination, port);

  /** The anchors that an anchor rule evaluates, in order. */
  const openedAnchors = (parent: string, { anchor }: AnchorRule): readonly string[] => {
    const name = anchor.startsWith('/') ? anchor.slice(1) : parent === '' ? anchor : `${parent}/${anchor}`;
    return name.endsWith('*') ? childAnchors(kernel, name.replace(/\/?\*$/, '')) : [name];
  };

  /**
   * All matching rules of one kind, in order of evaluation. Rules in an anchor without an anchor rule are not evaluated (INC-254, INC-255).
   */
  const matchingRules = (
    section: Section,
    sight: PacketAtHop,
    anchor = '',
    depth = 0,
  ): readonly (Filter | Translation)[] =>
    rulesetOf(kernel, anchor).entries.flatMap((entry) => {
      if (entry.kind === 'scrub' || sectionOf(entry) !== section || !matches(anchor, entry.match, sight)) return [];
      if (entry.kind !== 'anchor') return [entry];
      const inside =
        depth >= deepestAnchor
          ? []
          : openedAnchors(anchor, entry).flatMap((name) => matchingRules(section, sight, name, depth + 1));
      const last = inside.at(-1);
      // A match in a quick anchor ends the evaluation, like a quick rule.
      return entry.quick && last?.kind === 'filter' ? [...inside.slice(0, -1), { ...last, quick: true }] : inside;
    });

  /** Translation comes before filtering, and its first match counts: filters see the translated source (pf.conf(5)). */
  const translated = (sight: PacketAtHop): PacketAtHop => {
    if (sight.hop.direction !== 'out') return sight;
    const [rule] = matchingRules('nat', sight);
    if (rule?.kind !== 'translation' || rule.no) return sight;
    const dynamic = /^\(?([a-z]+\d+)(?::\d+)?\)?/.exec(rule.target)?.[1];
    const source = parseNetwork(dynamic === undefined ? rule.target : (addresses.of(dynamic) ?? ''));
    return source === undefined ? sight : { ...sight, source };
  };

  /** The last match counts, unless one is `quick`. No match: pass. */
  const verdict = (sight: PacketAtHop): 'pass' | 'block' => {
    let last: 'pass' | 'block' = 'pass';
    for (const rule of matchingRules('filter', sight)) {
      if (rule.kind !== 'filter') continue;
      last = rule.action;
      if (rule.quick) break;
    }
    return last;
  };
  return { translated, verdict };
};

const packetsAtHops = ({ source, destination, protocol, port, hops }: Packet): readonly PacketAtHop[] => {
  const from = parseNetwork(source);
  const to = parseNetwork(destination);
  if (from === undefined || to === undefined) throw new TypeError(`no packet goes from ${source} to ${destination}`);
  return hops.map((hop) => ({ hop, source: from, destination: to, protocol, port }));
};

/** A packet passes if the rules pass it at every interface. */
export const evaluate = (kernel: Kernel, packet: Packet, addresses: Addresses): 'pass' | 'block' => {
  if (!kernel.enabled) return 'pass';
  const { translated, verdict } = evaluator(kernel, addresses);
  const blocked = packetsAtHops(packet)
    .filter(({ hop }) => !kernel.skip.has(hop.on))
    .some((sight) => verdict(translated(sight)) === 'block');
  return blocked ? 'block' : 'pass';
};

/** The source address of a packet when it leaves. No answer from the internet reaches a VM's own address (INC-252). */
export const sourceAfterNat = (kernel: Kernel, packet: Packet, addresses: Addresses): string => {
  const out = packetsAtHops(packet).findLast(({ hop }) => hop.direction === 'out');
  if (out === undefined || !kernel.enabled) return packet.source;
  return evaluator(kernel, addresses).translated(out).source.text;
};
