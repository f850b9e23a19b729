import { machine as machineKind, type ScalewayAppleSiliconMachine } from '@tartan/api';
import { type Client, type Live, patchStatus } from '@tartan/kube';

/** As whoever looks after machines does it, once the Mac is lost or given back. */
export const forgetReservation = (client: Client, machine: Live<ScalewayAppleSiliconMachine>) => {
  const { serverID: _id, serverVersion: _version, ...rest } = machine.status ?? {};
  return patchStatus(client, machineKind.resource, machine, rest);
};
