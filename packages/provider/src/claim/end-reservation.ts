import { annotations, macHost, type MacHost, type ScalewayAppleSiliconMachine } from '@tartan/api';
import { type CallOptions, type Client, isKubeError, type Live } from '@tartan/kube';

/**
 * For a machine that goes away and does not hold the Mac that it has reserved. Another manager may be about to take it for the machine,
 * which nobody would then give back: a new version of the MacHost makes that write fail.
 *
 * `lookAgain`: somebody was faster; perhaps the machine holds the Mac now.
 * Assumptions: `host` was read from the server, after the machine was seen to be deleted. So no other reservation can follow.
 */
export const endReservation = async (
  client: Pick<Client, 'patch'>,
  machine: Live<ScalewayAppleSiliconMachine>,
  host: Live<MacHost>,
  options: CallOptions = {},
): Promise<'ended' | 'lookAgain'> => {
  const { name, uid, resourceVersion } = host.metadata;
  if (resourceVersion !== machine.status?.serverVersion) return 'ended';
  const metadata = { uid, resourceVersion, annotations: { [annotations.reservationEnded]: machine.metadata.uid } };
  try {
    await client.patch(macHost.resource, { name }, { type: 'merge', body: { metadata } }, options);
    return 'ended';
  } catch (error) {
    if (isKubeError(error, 'notFound')) return 'ended';
    if (isKubeError(error, 'conflict')) return 'lookAgain';
    throw error;
  }
};
