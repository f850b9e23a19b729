import { connect, type Socket, type TcpNetConnectOpts } from 'node:net';
import { type NetworkInterfaceInfo, networkInterfaces } from 'node:os';
import type { Duplex } from 'node:stream';
import type { Clock } from '@tartan/kube/clock';
import { HttpError } from '../api/http-response.ts';
import { errorCode } from '../file-errors.ts';

/** A guest on this Mac answers in a millisecond, or not at all. */
const connectTimeoutMs = 10_000;

const ipv4ToNumber = (address: string): number =>
  address.split('.').reduce((sum, part) => sum * 256 + (Number(part) & 255), 0);

/**
 * Our own address in the guest's network. To begin there names the interface: a route by scope answers EHOSTUNREACH on macOS otherwise.
 * `undefined`: the system may choose.
 */
export const localAddressFor = (
  target: string,
  interfaces: Readonly<Record<string, readonly NetworkInterfaceInfo[] | undefined>>,
): string | undefined => {
  const isNear = ({ family, address, netmask }: NetworkInterfaceInfo): boolean => {
    const mask = ipv4ToNumber(netmask);
    // Whole numbers, as bits of more than 31 are negative ones here. A single address is no network.
    return family === 'IPv4' && mask < 0xff_ff_ff_ff && ((ipv4ToNumber(address) ^ ipv4ToNumber(target)) & mask) === 0;
  };
  return Object.values(interfaces)
    .flatMap((each) => each ?? [])
    .find(isNear)?.address;
};

const connectErrorMessage = (error: unknown): string => {
  const code = errorCode(error);
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
  /** How a socket is opened; by Node unless told. */
  readonly open?: (options: TcpNetConnectOpts) => Socket;
}

/** Ends by a connection, a refusal, the deadline or `signal`; nothing is left open but by the first. */
export const dialGuest = ({ address, port, clock, signal, open = connect }: DialOptions): Promise<Duplex> =>
  new Promise((resolve, reject) => {
    if (signal.aborted) return reject(new HttpError(500, 'the client is gone'));
    const localAddress = localAddressFor(address, networkInterfaces());
    const socket = open({
      host: address,
      port,
      allowHalfOpen: true,
      noDelay: true,
      ...(localAddress === undefined ? {} : { localAddress }),
    });
    const settle = (end: () => void): void => {
      cancelTimer();
      signal.removeEventListener('abort', onAbort);
      socket.removeAllListeners('error').removeAllListeners('connect');
      end();
    };
    const fail = (why: string, cause?: unknown): void =>
      settle(() => {
        socket.on('error', () => {}).destroy();
        reject(new HttpError(500, why, { cause }));
      });
    const onAbort = (): void => fail('the client is gone');
    const cancelTimer = clock.after(connectTimeoutMs, () =>
      // macOS drops what is sent into the local network by a process that may not be there (tuist/tuist#12528).
      fail(
        `no answer within ${connectTimeoutMs / 1000} s: a firewall in the guest, or the agent is not allowed into the local network (macOS ` +
          'privacy settings)',
      ),
    );
    signal.addEventListener('abort', onAbort, { once: true });
    socket.once('error', (error) => fail(connectErrorMessage(error), error));
    socket.once('connect', () => settle(() => resolve(socket)));
  });
