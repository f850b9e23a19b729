import { once } from 'node:events';
import { connect, type Socket, type TcpNetConnectOpts } from 'node:net';
import { type NetworkInterfaceInfo, networkInterfaces } from 'node:os';
import type { Duplex } from 'node:stream';
import { type Clock, withTimeout } from '@tartan/kube/clock';
import { HttpError } from '../api/http-response.ts';
import { errorCode } from '../file-errors.ts';

/** A guest on this Mac responds within a millisecond, or not at all. */
const connectTimeoutMs = 10_000;

const ipv4ToNumber = (address: string): number =>
  address.split('.').reduce((sum, part) => sum * 256 + (Number(part) & 255), 0);

/**
 * Our own address in the guest's network. Binding to it selects the interface: otherwise macOS fails with EHOSTUNREACH on scoped
 * routes. `undefined`: the system chooses.
 */
export const localAddressFor = (
  target: string,
  interfaces: Readonly<Record<string, readonly NetworkInterfaceInfo[] | undefined>>,
): string | undefined => {
  const isNear = ({ family, address, netmask }: NetworkInterfaceInfo): boolean => {
    const mask = ipv4ToNumber(netmask);
    // `^` and `&` yield signed 32-bit numbers, hence the comparison with 0. A /32 is no network.
    return family === 'IPv4' && mask < 0xff_ff_ff_ff && ((ipv4ToNumber(address) ^ ipv4ToNumber(target)) & mask) === 0;
  };
  return Object.values(interfaces)
    .flatMap((each) => each ?? [])
    .find(isNear)?.address;
};

const connectErrorMessage = (error: unknown): string => {
  const code = errorCode(error);
  // macOS drops packets to the local network from a process without that privacy permission (tuist/tuist#12528).
  if (code === 'ABORT_ERR')
    return `no answer within ${connectTimeoutMs / 1000} s: a firewall in the guest, or the agent is not allowed into the local network (macOS privacy settings)`;
  if (code === 'ECONNREFUSED') return 'connection refused: nothing listens there in the guest';
  if (code === 'EHOSTUNREACH' || code === 'ENETUNREACH')
    return 'no route to the guest: if it is up, allow the agent into the local network (macOS privacy settings), and restart the Mac';
  return `cannot connect${code === undefined ? '' : ` (${code})`}`;
};

export interface DialOptions {
  readonly address: string;
  readonly port: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Opens a socket. Node's by default. */
  readonly open?: (options: TcpNetConnectOpts) => Socket;
}

/** Settles on a connection, an error, the deadline or `signal`; only the first leaves a socket open. */
export const dialGuest = async ({ address, port, clock, signal, open = connect }: DialOptions): Promise<Duplex> => {
  const localAddress = localAddressFor(address, networkInterfaces());
  const socket = open({
    host: address,
    port,
    allowHalfOpen: true,
    noDelay: true,
    ...(localAddress === undefined ? {} : { localAddress }),
  });
  try {
    await withTimeout(clock, connectTimeoutMs, (limited) => once(socket, 'connect', { signal: limited }), signal);
    return socket;
  } catch (cause) {
    socket.on('error', () => {}).destroy();
    throw new HttpError(500, signal.aborted ? 'the client is gone' : connectErrorMessage(cause), { cause });
  }
};
