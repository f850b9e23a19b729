import { createHash } from 'node:crypto';
import { connect as connectSocket } from 'node:net';
import { type Clock, systemClock } from '@tartan/kube/clock';
import ssh2, { type Algorithms } from 'ssh2';
import type { ConnectOutcome, HostAddress } from './connection.ts';
import { createHostConnection } from './host-connection.ts';
import { parsePrivateKey } from './ssh-keys.ts';

/**
 * The algorithms offered to a host: none that OpenSSH has retired, and none that macOS lacks.
 *
 * aes128-gcm is first because it is by far the fastest (no separate MAC, hardware on both sides): 96 MB in 0.55 s against 0.73 s with
 * chacha20. The order of the host keys must never change: it decides which of its keys a host shows, and so which one is pinned.
 */
const algorithms: Algorithms = {
  kex: [
    'curve25519-sha256',
    'curve25519-sha256@libssh.org',
    'ecdh-sha2-nistp256',
    'ecdh-sha2-nistp384',
    'ecdh-sha2-nistp521',
  ],
  serverHostKey: [
    'ssh-ed25519',
    'ecdsa-sha2-nistp256',
    'ecdsa-sha2-nistp384',
    'ecdsa-sha2-nistp521',
    'rsa-sha2-512',
    'rsa-sha2-256',
  ],
  cipher: ['aes128-gcm@openssh.com', 'aes256-gcm@openssh.com', 'chacha20-poly1305@openssh.com'],
  // All ciphers above authenticate by themselves; the protocol requires a list anyway.
  hmac: ['hmac-sha2-256-etm@openssh.com', 'hmac-sha2-512-etm@openssh.com'],
  compress: ['none'],
};

/** As OpenSSH writes it: `SHA256:` and base64 without padding. */
export const fingerprint = (key: Buffer): string =>
  `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`;

interface Keepalive {
  /** Milliseconds between two keepalive requests. */
  readonly interval: number;
  /** Consecutive requests that may go unanswered. */
  readonly misses: number;
}

type DialOutcome =
  | Exclude<ConnectOutcome, { kind: 'never connected' }>
  | { readonly kind: 'never connected'; readonly cause: string };

/** The error of `ssh2` after the last key, or of sshd after too many attempts. */
const isRefusal = (error: Error & { level?: string }): boolean =>
  error.level === 'client-authentication' || /too many authentication failures/i.test(error.message);

const abortReason = (signal: AbortSignal): Error => {
  const reason: unknown = signal.reason;
  return reason instanceof Error ? reason : new Error('aborted', { cause: reason });
};

/** One attempt at one address. Without a host key it never connected. With one the host failed, and its other addresses would not help. */
const dial = (address: HostAddress, options: ConnectOptions): Promise<DialOutcome> =>
  new Promise((resolve, reject) => {
    const { clock = systemClock, keepalive = defaultKeepalive, pinnedHostKey, signal } = options;
    if (signal?.aborted) return reject(abortReason(signal));
    const client = new ssh2.Client();
    // Otherwise a command would wait 40 ms for the host's delayed acknowledgement.
    const socket = connectSocket({ host: address.host, port: address.port, noDelay: true });
    let hostKey: string | undefined;

    const clearTimers = (): void => {
      clearConnect();
      clearDeadline();
      signal?.removeEventListener('abort', abort);
    };
    const finish = (outcome: DialOutcome): void => {
      clearTimers();
      if (outcome.kind !== 'connected') socket.destroy();
      resolve(outcome);
    };
    const fail = (cause: string): void => {
      if (hostKey === undefined) finish({ kind: 'never connected', cause });
      else if (pinnedHostKey !== undefined && hostKey !== pinnedHostKey)
        finish({ kind: 'host key changed', expected: pinnedHostKey, hostKey, address });
      else finish({ kind: 'handshake failed', cause, hostKey, address });
    };
    const abort = (): void => {
      clearTimers();
      socket.destroy();
      reject(signal && abortReason(signal));
    };
    const seconds = (milliseconds: number): string => `${milliseconds / 1000} s`;
    const clearConnect = clock.after(connectDeadline, () =>
      fail(`no TCP connection within ${seconds(connectDeadline)}`),
    );
    const clearDeadline = clock.after(deadline, () =>
      fail(
        hostKey === undefined
          ? `TCP connected, but no SSH server answered within ${seconds(deadline)}`
          : `no login within ${seconds(deadline)}`,
      ),
    );
    signal?.addEventListener('abort', abort);

    socket.once('connect', clearConnect);
    const error = (error: Error & { level?: string }): void => {
      if (hostKey !== undefined && isRefusal(error))
        finish({ kind: 'authentication refused', user: options.user, hostKey, address });
      else fail(error.message);
    };
    const close = (): void => fail('the host hung up');
    // An unhandled error event would end the process: this listener stays until the connection has its own.
    client.on('error', error);
    client.once('close', close);
    client.once('ready', () => {
      if (hostKey === undefined) return fail('the host showed no key');
      const connection = createHostConnection({ client, socket, clock, hostKey, address });
      client.off('error', error);
      client.off('close', close);
      finish({ kind: 'connected', connection, hostKey });
    });
    client.connect({
      sock: socket,
      username: options.user,
      privateKey: options.privateKey,
      // Only the key: every other attempt would count against the host's MaxAuthTries.
      authHandler: ['publickey'],
      algorithms,
      hostVerifier: (key: Buffer) => {
        const shown = fingerprint(key);
        // Also called at each rekey: a host does not change its key within a connection.
        const expected = pinnedHostKey ?? hostKey ?? shown;
        hostKey ??= shown;
        return shown === expected;
      },
      // `dial` enforces the deadline, with the injected clock.
      readyTimeout: 0,
      keepaliveInterval: keepalive.interval,
      keepaliveCountMax: keepalive.misses,
    });
  });

export interface ConnectOptions {
  /** Tried in this order, the next only when the one before never connected (INC-13). */
  readonly addresses: readonly HostAddress[];
  readonly user: string;
  /** In OpenSSH's form, unencrypted. */
  readonly privateKey: string;
  /** `SHA256:…` of the host's key since its last install. Without one, the first key shown is accepted. */
  readonly pinnedHostKey?: string;
  readonly clock?: Clock;
  readonly keepalive?: Keepalive;
  readonly signal?: AbortSignal;
}

/** For each address: for the TCP connection, and for the whole handshake. A listener that sends nothing must not block the caller. */
const connectDeadline = 15_000;
const deadline = 20_000;

/** A host that does not answer for a minute counts as lost. Short enough for a NAT that drops idle connections. */
const defaultKeepalive = { interval: 15_000, misses: 3 };

/**
 * Reaches a host over the first address that works. Rejects only for causes unrelated to the host: with `PrivateKeyError` before the
 * first attempt, and with the reason of `signal`.
 */
export const connect = async (options: ConnectOptions): Promise<ConnectOutcome> => {
  parsePrivateKey(options.privateKey);
  const attempts: { address: HostAddress; cause: string }[] = [];
  for (const address of options.addresses) {
    const outcome = await dial(address, options);
    if (outcome.kind !== 'never connected') return outcome;
    attempts.push({ address, cause: outcome.cause });
  }
  return { kind: 'never connected', attempts };
};
