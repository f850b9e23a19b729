import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { connect, type ConnectOutcome, type HostConnection } from '@tartan/host';

/** How a person names a Mac and the way to it. */
export interface Target {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  /** A private key file; without one, the usual places are looked at. */
  readonly identity?: string;
  readonly hostKey?: string;
}

/** Says what went wrong on the way to a host, and what to do. */
class UnreachableError extends Error {
  override readonly name = 'UnreachableError';
}

/** Connects, or rejects with an error that is made for people. `PrivateKeyError` of a key that cannot be used passes through. */
export const connectToHost = async (target: Target, signal: AbortSignal): Promise<HostConnection> => {
  const outcome = await connect({
    addresses: [{ host: target.host, port: target.port, transport: 'public' }],
    user: target.user,
    privateKey: await privateKey(target),
    ...(target.hostKey !== undefined && { pinnedHostKey: target.hostKey }),
    signal,
  });
  if (outcome.kind === 'connected') return outcome.connection;
  throw new UnreachableError(connectFailureText(outcome, target));
};

const defaultKeyNames = ['id_ed25519', 'id_ecdsa', 'id_rsa'];

const privateKey = async ({ identity }: Target): Promise<string> => {
  const files = identity === undefined ? defaultKeyNames.map((name) => join(homedir(), '.ssh', name)) : [identity];
  for (const file of files) {
    const text = await readFile(file, 'utf8').catch(() => undefined);
    if (text !== undefined) return text;
  }
  throw new UnreachableError(
    identity === undefined
      ? `There is no SSH key in ${join(homedir(), '.ssh')}. Name the one that the Mac knows with --identity FILE.`
      : `The SSH key ${identity} cannot be read. Name the one that the Mac knows with --identity FILE.`,
  );
};

const connectFailureText = (
  outcome: Exclude<ConnectOutcome, { kind: 'connected' }>,
  { host, port, user }: Target,
): string => {
  switch (outcome.kind) {
    case 'never connected':
      return `Cannot reach ${host} port ${port}: ${outcome.attempts.map(({ cause }) => cause).join('; ')}. Is it up (sshd needs a minute after a reboot), and is Remote Login on?`;
    case 'host key changed':
      return `${host} shows the host key ${outcome.hostKey}, and ${outcome.expected} was expected. If it was reinstalled, that is right: give the new one with --host-key. If not, somebody may be in between: stop.`;
    case 'authentication refused':
      return `${host} refuses the key for ${outcome.user}. Scaleway puts keys on a Mac at its first boot only: reinstall it with the key registered, or add the public half to ~${user}/.ssh/authorized_keys.`;
    case 'handshake failed':
      return `${host} answered and then broke off: ${outcome.cause}. Try again; if it goes on, reboot the Mac.`;
  }
};
