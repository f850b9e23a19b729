import { isIPv4 } from 'node:net';
import type { FlagType } from './flag.ts';

export interface BindAddress {
  /** Empty: all addresses of the machine. */
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
}

/** `0` disables the listener, as in controller-runtime (`undefined` here). */
export const bindAddress: FlagType<BindAddress | undefined> = {
  placeholder: 'host:port',
  examples: [':8080', '127.0.0.1:8080', '0'],
  format: (value) => {
    if (value === undefined) return '0';
    return `${value.host.includes(':') ? `[${value.host}]` : value.host}:${value.port}`;
  },
  parse: (text) => {
    if (text === '0') return { value: undefined };
    const [, inBrackets, plain = '', digits] = /^(?:\[([0-9A-Fa-f:.]+)\]|([-.A-Za-z0-9]*)):(\d{1,5})$/.exec(text) ?? [];
    if (digits === undefined) return { problem: 'is no address to listen on' };
    const port = Number(digits);
    return port > 65_535 ? { problem: 'has a port above 65535' } : { value: { host: inBrackets ?? plain, port } };
  },
};

export const ipv4Address: FlagType<string> = {
  placeholder: 'ip',
  examples: ['10.96.0.10'],
  parse: (text) => (isIPv4(text) ? { value: text } : { problem: 'is no IPv4 address' }),
};

/** IPv4 only, as VMs get no IPv6. Host bits must be zero: otherwise the network is ambiguous. */
export const ipv4Network: FlagType<string> = {
  placeholder: 'cidr',
  examples: ['10.96.0.0/12'],
  parse: (text) => {
    const [, address = '', digits = ''] = /^([\d.]+)\/(\d{1,2})$/.exec(text) ?? [];
    const prefix = Number(digits);
    if (!isIPv4(address) || prefix > 32) return { problem: 'is no IPv4 network' };
    const bits = address.split('.').reduce((sum, byte) => sum * 256 + Number(byte), 0);
    return bits % 2 ** (32 - prefix) === 0 ? { value: text } : { problem: 'has bits set behind its prefix' };
  },
};

const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** Without a trailing slash, so that paths can be appended. */
const urlType = (examples: readonly string[], problemOf: (url: URL) => string | undefined): FlagType<string> => ({
  placeholder: 'url',
  examples,
  parse: (text) => {
    const url = URL.parse(text);
    if (url === null) return { problem: 'is no URL' };
    const problem = url.username !== '' || url.password !== '' ? 'holds a user or a password' : problemOf(url);
    return problem === undefined ? { value: `${url.origin}${url.pathname.replace(/\/+$/, '')}` } : { problem };
  },
});

const needsHttps = 'does not begin with https://';

/** An API server's URL: only scheme, host and port. */
export const serverURL = urlType(['https://k8s.example.com:6443'], ({ protocol, pathname, search, hash }) => {
  if (protocol !== 'https:') return needsHttps;
  return pathname === '/' && search === '' && hash === '' ? undefined : 'has more than a host and a port';
});

/** URL of an API that gets a credential: may have a path, must be https except on loopback. */
export const apiURL = urlType(
  ['https://api.github.com', 'https://github.example.com/api/v3'],
  ({ protocol, hostname, search, hash }) => {
    if (protocol !== 'https:' && !(protocol === 'http:' && loopback.test(hostname))) return needsHttps;
    return search === '' && hash === '' ? undefined : 'has more than a host, a port and a path';
  },
);
