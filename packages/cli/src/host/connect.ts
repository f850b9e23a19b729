import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { connect, type ConnectOutcome, type HostConnection } from '@tartan/host';

export interface Target {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  /** A private key file. Undefined: the default keys of OpenSSH. */
  readonly identity?: string;
  readonly hostKey?: string;
}

/** Connects, or rejects with an error for people. */
export const connectToHost = async (target: Target, signal: AbortSignal): Promise<HostConnection> => {
  const outcome = await connect({
    addresses: [{ host: target.host, port: target.port, transport: 'public' }],
    user: target.user,
    privateKey: await privateKey(target),
    ...(target.hostKey !== undefined && { pinnedHostKey: target.hostKey }),
    signal,
  });
  if (outcome.kind === 'connected') return outcome.connection;
  throw new Error(connectFailureText(outcome, target));
};

const defaultKeyNames = ['id_ed25519', 'id_ecdsa', 'id_rsa'];

const privateKey = async ({ identity }: Target): Promise<string> => {
  const files = identity === undefined ? defaultKeyNames.map((name) => join(homedir(), '.ssh', name)) : [identity];
  for (const file of files) {
    const text = await readFile(file, 'utf8').catch(() => undefined);
    if (text !== undefined) return text;
  }
  throw new Error(
    identity === undefined
      ? `There is no SSH key in ${join(homedir(), '.ssh')}. Use --identity FILE with a key that the Mac accepts.`
      : `The SSH key ${identity} cannot be read. Use --identity FILE with a key that the Mac accepts.`,
  );
};

const connectFailureText = (
  outcome: Exclude<ConnectOutcome, { kind: 'connected' }>,
  { host, port, user }: Target,
): string => {
  switch (outcome.kind) {
    case 'never connected':
      return `Cannot reach ${host} port ${port}: ${outcome.attempts.map(({ cause }) => cause).join('; ')}. Check that it is up (sshd needs a minute after a reboot), and that Remote Login is on.`;
    case 'host key changed':
      return `The host key of ${host} is ${outcome.hostKey}, and ${outcome.expected} was expected. After a reinstall this is normal: pass the new key with --host-key. Otherwise stop: somebody may intercept the connection.`;
    case 'authentication refused':
      return `${host} rejects the SSH key of ${outcome.user}. Scaleway installs keys at the first boot only: register the key and reinstall the Mac, or add the public key to ~${user}/.ssh/authorized_keys.`;
    case 'handshake failed':
      return `The SSH handshake with ${host} failed: ${outcome.cause}. Try again; if it fails again, reboot the Mac.`;
  }
};
