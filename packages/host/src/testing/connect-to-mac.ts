import type { Mac } from '@tartan/sim-mac';
import ssh2 from 'ssh2';
import { connect, type ConnectOptions } from '../connection/connect.ts';
import type { HostConnection } from '../connection/connection.ts';

/** The fleet's key; the Mac has its public half. ssh2 1.17 cannot parse one in 300 of the keys that it generates. */
export const fleetKey = (): { publicKey: string; privateKey: string } => {
  const { public: publicKey, private: privateKey } = ssh2.utils.generateKeyPairSync('ed25519');
  return ssh2.utils.parseKey(privateKey) instanceof Error ? fleetKey() : { publicKey, privateKey };
};

/** Real SSH to a simulated Mac. */
export const connectToMac = async (
  mac: Pick<Mac, 'address' | 'user'>,
  privateKey: string,
  options: Partial<ConnectOptions> = {},
): Promise<HostConnection> => {
  const outcome = await connect({
    addresses: [{ ...mac.address, transport: 'public' }],
    user: mac.user.name,
    privateKey,
    ...options,
  });
  if (outcome.kind !== 'connected') throw new Error(`cannot reach the simulated Mac: ${JSON.stringify(outcome)}`);
  return outcome.connection;
};
