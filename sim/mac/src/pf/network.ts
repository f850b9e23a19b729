import { isIPv4, isIPv6 } from 'node:net';

/** A network such as `10.0.0.0/8`, or one address. */
export interface Network {
  readonly family: 4 | 6;
  readonly value: bigint;
  readonly prefix: number;
  /** As pfctl prints it: a single address has no length. */
  readonly text: string;
}

const widthOf = (family: 4 | 6): number => (family === 4 ? 32 : 128);

const valueOfIPv4 = (text: string): bigint =>
  text.split('.').reduce((value, part) => value * 256n + BigInt(Number(part)), 0n);

const groupsOf = (text: string): readonly bigint[] =>
  text === ''
    ? []
    : text.split(':').flatMap((group) => {
        if (!group.includes('.')) return [BigInt(`0x${group}`)];
        const value = valueOfIPv4(group);
        return [value >> 16n, value & 0xffffn];
      });

const valueOfIPv6 = (text: string): bigint => {
  const [before = '', after] = text.split('::');
  const head = groupsOf(before);
  const tail = after === undefined ? [] : groupsOf(after);
  const gap = Array.from({ length: Math.max(0, 8 - head.length - tail.length) }, () => 0n);
  return [...head, ...gap, ...tail].reduce((value, group) => value * 65_536n + group, 0n);
};

const maskOf = (family: 4 | 6, prefix: number): bigint => {
  const width = BigInt(widthOf(family));
  return ((1n << width) - 1n) ^ ((1n << (width - BigInt(prefix))) - 1n);
};

/** `undefined` for an invalid address. Scopes (`%en0`) are not supported. */
export const parseNetwork = (text: string): Network | undefined => {
  const [address = '', length, ...rest] = text.split('/');
  const family = isIPv4(address) ? 4 : isIPv6(address) && !address.includes('%') ? 6 : undefined;
  if (family === undefined || rest.length > 0 || (length !== undefined && !/^\d{1,3}$/.test(length))) return undefined;
  const prefix = length === undefined ? widthOf(family) : Number(length);
  if (prefix > widthOf(family)) return undefined;
  const value = (family === 4 ? valueOfIPv4(address) : valueOfIPv6(address)) & maskOf(family, prefix);
  return { family, value, prefix, text: prefix === widthOf(family) ? address : `${address}/${prefix}` };
};

export const contains = (network: Network, address: Network): boolean =>
  network.family === address.family && (address.value & maskOf(network.family, network.prefix)) === network.value;
