import { connect as connectSocket } from 'node:net';
import type { Clock } from '@tartan/kube/clock';
import ssh2 from 'ssh2';
import { algorithms } from './algorithms.ts';
import type { ConnectOutcome, HostAddress } from './connection.ts';
import { fingerprint } from './host-key.ts';
import { hostConnection } from './host-connection.ts';

export interface Keepalive {
  /** Milliseconds between two questions. */
  readonly interval: number;
  /** Questions in a row that may go unanswered. */
  readonly misses: number;
}

export interface DialOptions {
  readonly user: string;
  readonly privateKey: string;
  readonly pinnedHostKey: string | undefined;
  readonly clock: Clock;
  readonly connectDeadline: number;
  readonly deadline: number;
  readonly keepalive: Keepalive;
  readonly signal: AbortSignal | undefined;
}

export type DialOutcome =
  | Exclude<ConnectOutcome, { kind: 'never connected' }>
  | { readonly kind: 'never connected'; readonly cause: string };

/** What `ssh2` says when all keys were tried, and what sshd says when it has had enough of us. */
const isRefusal = (error: Error & { level?: string }): boolean =>
  error.level === 'client-authentication' || /too many authentication failures/i.test(error.message);

const abortReason = (signal: AbortSignal): Error => {
  const reason: unknown = signal.reason;
  return reason instanceof Error ? reason : new Error('aborted', { cause: reason });
};

/**
 * One attempt at one address. How far it got decides the outcome: before a host key was shown it never connected, after that it is
 * the host that failed, and another way to the same host would not help.
 */
export const dial = (address: HostAddress, options: DialOptions): Promise<DialOutcome> =>
  new Promise((resolve, reject) => {
    const { clock, pinnedHostKey, signal } = options;
    if (signal?.aborted) return reject(abortReason(signal));
    const client = new ssh2.Client();
    // A command would wait 40 ms for the host's delayed acknowledgement otherwise.
    const socket = connectSocket({ host: address.host, port: address.port, noDelay: true });
    let hostKey: string | undefined;

    const settle = (): void => {
      clearConnect();
      clearDeadline();
      signal?.removeEventListener('abort', abort);
    };
    const give = (outcome: DialOutcome): void => {
      settle();
      if (outcome.kind !== 'connected') socket.destroy();
      resolve(outcome);
    };
    const fail = (cause: string): void => {
      if (hostKey === undefined) give({ kind: 'never connected', cause });
      else if (pinnedHostKey !== undefined && hostKey !== pinnedHostKey)
        give({ kind: 'host key changed', expected: pinnedHostKey, hostKey, address });
      else give({ kind: 'handshake failed', cause, hostKey, address });
    };
    const abort = (): void => {
      settle();
      socket.destroy();
      reject(signal && abortReason(signal));
    };
    const seconds = (milliseconds: number): string => `${milliseconds / 1000} s`;
    const clearConnect = clock.after(options.connectDeadline, () =>
      fail(`no TCP connection within ${seconds(options.connectDeadline)}`),
    );
    const clearDeadline = clock.after(options.deadline, () =>
      fail(
        hostKey === undefined
          ? `TCP connected, but no SSH server answered within ${seconds(options.deadline)}`
          : `no login within ${seconds(options.deadline)}`,
      ),
    );
    signal?.addEventListener('abort', abort);

    socket.once('connect', clearConnect);
    const error = (error: Error & { level?: string }): void => {
      if (hostKey !== undefined && isRefusal(error))
        give({ kind: 'authentication refused', user: options.user, hostKey, address });
      else fail(error.message);
    };
    const close = (): void => fail('the host hung up');
    // An error event that nobody hears would end the process: this listener stays until the connection has its own.
    client.on('error', error);
    client.once('close', close);
    client.once('ready', () => {
      if (hostKey === undefined) return fail('the host showed no key');
      const connection = hostConnection({ client, socket, clock, hostKey, address });
      client.off('error', error);
      client.off('close', close);
      give({ kind: 'connected', connection, hostKey });
    });
    client.connect({
      sock: socket,
      username: options.user,
      privateKey: options.privateKey,
      // Only the key: every other attempt counts against the host's MaxAuthTries.
      authHandler: ['publickey'],
      algorithms,
      hostVerifier: (key: Buffer) => {
        const shown = fingerprint(key);
        // Asked again whenever new session keys are made: a host does not change its key in the middle.
        const expected = pinnedHostKey ?? hostKey ?? shown;
        hostKey ??= shown;
        return shown === expected;
      },
      // The deadline is ours, by our clock.
      readyTimeout: 0,
      keepaliveInterval: options.keepalive.interval,
      keepaliveCountMax: options.keepalive.misses,
    });
  });
