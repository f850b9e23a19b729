import type { MachineStatus } from '@tartan/api';
import { sshAddressOf } from '../host-work/ssh-address.ts';
import type { Told } from './told.ts';

type Addresses = NonNullable<MachineStatus['addresses']>;

/** How the Mac is reached now: by what Scaleway says, and by what its Node says. None once the Mac is somebody else's. */
export const addressesOf = ({ snapshot, ip, nodeAddresses }: Told): Addresses => {
  const { host } = snapshot;
  if (host.kind !== 'present' || host.holder !== 'me') return [];
  const publicAddress = ip === undefined ? undefined : sshAddressOf(ip)?.host;
  return [
    ...(publicAddress === undefined ? [] : [{ type: 'ExternalIP' as const, address: publicAddress }]),
    ...nodeAddresses.filter(({ address }) => address !== publicAddress),
  ];
};
