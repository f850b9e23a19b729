import { type Clock, systemClock } from '@tartan/kube/clock';
import type { ConnectOutcome, HostAddress } from './connection.ts';
import { dial, type Keepalive } from './dial.ts';
import { checkPrivateKey } from './private-key.ts';

export interface ConnectOptions {
  /** Tried in this order, the next only when the one before never connected (I-56). */
  readonly addresses: readonly HostAddress[];
  readonly user: string;
  /** In OpenSSH's form, unencrypted. */
  readonly privateKey: string;
  /** `SHA256:…` of the key that this install of the host has. Without one, the first key shown is taken (I-17). */
  readonly pinnedHostKey?: string;
  readonly clock?: Clock;
  /** Milliseconds until TCP stands, for each address. */
  readonly connectDeadline?: number;
  /** Milliseconds until commands can run, for each address: a listener that says nothing must not hold us (G-01). */
  readonly deadline?: number;
  readonly keepalive?: Keepalive;
  readonly signal?: AbortSignal;
}

/** A host that does not answer for a minute is gone. Short enough for a NAT that forgets idle connections. */
const defaultKeepalive: Keepalive = { interval: 15_000, misses: 3 };

/**
 * Reaches a host over the first address that works. Rejects only for what has nothing to do with the host: with `PrivateKeyError`
 * before anybody is dialled, and with the reason of `signal`.
 */
export const connect = async (options: ConnectOptions): Promise<ConnectOutcome> => {
  checkPrivateKey(options.privateKey);
  const attempts: { address: HostAddress; cause: string }[] = [];
  for (const address of options.addresses) {
    const outcome = await dial(address, {
      user: options.user,
      privateKey: options.privateKey,
      pinnedHostKey: options.pinnedHostKey,
      clock: options.clock ?? systemClock,
      connectDeadline: options.connectDeadline ?? 15_000,
      deadline: options.deadline ?? 20_000,
      keepalive: options.keepalive ?? defaultKeepalive,
      signal: options.signal,
    });
    if (outcome.kind !== 'never connected') return outcome;
    attempts.push({ address, cause: outcome.cause });
  }
  return { kind: 'never connected', attempts };
};
