import { macHost } from '@tartan/api';
import { type Client, isKubeError } from '@tartan/kube';
import { sshAddressOf } from '../host-work/ssh-address.ts';
import type { MachineIdentity } from '../identity/index.ts';

interface HeldMac {
  /** As Scaleway tells it. */
  readonly address: string | undefined;
  readonly installs: number;
}

/** The Mac that the machine holds at this moment, read from the server. */
export const heldMac = async (
  client: Pick<Client, 'get'>,
  { uid, serverID }: Pick<MachineIdentity, 'uid' | 'serverID'>,
  signal: AbortSignal,
): Promise<HeldMac | undefined> => {
  if (serverID === undefined) return undefined;
  const host = await unlessGone(client.get(macHost.resource, { name: serverID }, { signal }));
  if (host?.spec.consumerRef?.uid !== uid) return undefined;
  const { ip, installs = 0 } = host.status ?? {};
  return { address: ip === undefined ? undefined : sshAddressOf(ip)?.host, installs };
};

export const unlessGone = async <T>(call: Promise<T>): Promise<T | undefined> => {
  try {
    return await call;
  } catch (error) {
    if (isKubeError(error, 'notFound')) return undefined;
    throw error;
  }
};
