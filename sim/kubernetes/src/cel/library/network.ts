import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net';
import type { Environment } from '@marcbachmann/cel-js';
import { functionRegistrar } from './register.ts';

class Address {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

class Network {
  readonly address: string;
  readonly bits: number;
  constructor(address: string, bits: number) {
    this.address = address;
    this.bits = bits;
  }
}

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIPv4(address) ? 'ipv4' : 'ipv6');

const parseAddress = (text: string): Address => {
  if (isIP(text) === 0 || text.includes('%'))
    throw new Error(`IP Address "${text}" parse error during conversion from string`);
  return new Address(text);
};

const parseNetwork = (text: string): Network | undefined => {
  const match = /^([^/]+)\/(0|[1-9]\d{0,2})$/.exec(text);
  const [address, bits] = [match?.[1] ?? '', Number(match?.[2])];
  const fits = (isIPv4(address) && bits <= 32) || (isIPv6(address) && bits <= 128);
  return fits ? new Network(address, bits) : undefined;
};

const network = (text: string): Network => {
  const parsed = parseNetwork(text);
  if (!parsed)
    throw new Error(`network address parse error during conversion from string: invalid CIDR address: ${text}`);
  return parsed;
};

const contains = (outer: Network, address: string): boolean => {
  if (familyOf(outer.address) !== familyOf(address)) return false;
  const list = new BlockList();
  list.addSubnet(outer.address, outer.bits, familyOf(outer.address));
  return list.check(address, familyOf(address));
};

const parseUrl = (text: string): URL | undefined => {
  if (/\s/.test(text)) return undefined;
  if (text.startsWith('/')) return URL.canParse(text, 'relative://host') ? new URL(text, 'relative://host') : undefined;
  return URL.canParse(text) ? new URL(text) : undefined;
};

const url = (text: string): URL => {
  const parsed = parseUrl(text);
  if (!parsed) throw new Error('URL parse error during conversion from string');
  return parsed;
};

const absolute = (value: URL, part: string): string => (value.protocol === 'relative:' ? '' : part);

export const registerNetwork = (environment: Environment): void => {
  const add = functionRegistrar(environment);
  environment.registerType('IP', { ctor: Address, fields: {} });
  environment.registerType('CIDR', { ctor: Network, fields: {} });
  environment.registerType('URL', { ctor: URL, fields: {} });
  add('isIP(string): bool', (text: string) => isIP(text) !== 0 && !text.includes('%'));
  add('ip(string): IP', parseAddress);
  add('string(IP): string', (value: Address) => value.text);
  add('IP.family(): int', (value: Address) => BigInt(isIP(value.text)));
  environment.registerOperator('IP == IP', (a: Address, b: Address) => a.text === b.text);
  add('isCIDR(string): bool', (text: string) => parseNetwork(text) !== undefined);
  add('cidr(string): CIDR', network);
  add('CIDR.prefixLength(): int', (value: Network) => BigInt(value.bits));
  add('CIDR.ip(): IP', (value: Network) => new Address(value.address));
  add('CIDR.containsIP(IP): bool', (outer: Network, address: Address) => contains(outer, address.text));
  add('CIDR.containsIP(string): bool', (outer: Network, text: string) => contains(outer, parseAddress(text).text));
  add('CIDR.containsCIDR(CIDR): bool', (a: Network, b: Network) => a.bits <= b.bits && contains(a, b.address));
  add('CIDR.containsCIDR(string): bool', (a: Network, text: string) => {
    const inner = network(text);
    return a.bits <= inner.bits && contains(a, inner.address);
  });
  add('isURL(string): bool', (text: string) => parseUrl(text) !== undefined);
  add('url(string): URL', url);
  add('URL.getScheme(): string', (value: URL) => absolute(value, value.protocol.slice(0, -1)));
  add('URL.getHost(): string', (value: URL) => absolute(value, value.host));
  add('URL.getHostname(): string', (value: URL) => absolute(value, value.hostname.replaceAll(/[[\]]/g, '')));
  add('URL.getPort(): string', (value: URL) => absolute(value, value.port));
  add('URL.getEscapedPath(): string', (value: URL) => value.pathname);
};
