import type { HostAddress } from '@tartan/host';

const sshPort = 22;

const isPort = (text: string): boolean => /^\d{1,5}$/.test(text) && Number(text) > 0 && Number(text) < 65_536;

/**
 * Address of the SSH server of a Mac. Scaleway returns a plain address; simulated Macs share one address and differ in ports, so
 * `host:port` and `[address]:port` are accepted too. Undefined if it is no address.
 */
export const sshAddressOf = (ip: string): HostAddress | undefined => {
  const [, bracketed, plain, port] = /^(?:\[([^\]\s]+)\]|([^:[\]\s]+))(?::([^:]*))?$/.exec(ip) ?? [];
  const host = bracketed ?? plain;
  if (host !== undefined)
    return port === undefined || isPort(port)
      ? { host, port: port === undefined ? sshPort : Number(port), transport: 'public' }
      : undefined;
  // More than one colon: an IPv6 address without a port.
  return /^[0-9a-f:.]*:[0-9a-f:.]*:[0-9a-f:.]*$/i.test(ip)
    ? { host: ip, port: sshPort, transport: 'public' }
    : undefined;
};
