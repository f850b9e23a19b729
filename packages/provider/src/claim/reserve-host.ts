import { machine as machineKind, type MacHost, type ScalewayAppleSiliconMachine } from '@tartan/api';
import { type CallOptions, type Client, isKubeError, type Live, patchStatus } from '@tartan/kube';

type Machine = Live<ScalewayAppleSiliconMachine>;

type Reservation =
  /** As it was written. */
  | { readonly kind: 'reserved'; readonly machine: Machine }
  /** The machine is another than it was, or has a server. Read it again. */
  | { readonly kind: 'tryAgain'; readonly why: string };

/**
 * The first compare-and-swap of a claim: the machine names the Mac, and the version of its MacHost at which it was found free.
 *
 * Guarantees: a machine that names a server never changes to another one here.
 * Assumptions: `host` was judged as it is, by `chooseHost` or `obstacleTo`.
 */
export const reserveHost = async (
  client: Client,
  machine: Machine,
  host: Live<MacHost>,
  options: CallOptions = {},
): Promise<Reservation> => {
  const { name: serverID, resourceVersion: serverVersion } = host.metadata;
  const { status = {} } = machine;
  if (machine.metadata.deletionTimestamp !== undefined) return tryAgain('it is being deleted');
  if (status.serverID && status.serverID !== serverID) return tryAgain(`it has reserved ${status.serverID}`);
  try {
    const next = { ...status, serverID, serverVersion };
    return { kind: 'reserved', machine: await patchStatus(client, machineKind.resource, machine, next, options) };
  } catch (error) {
    if (isKubeError(error, 'conflict')) return tryAgain('somebody has changed it meanwhile');
    if (isKubeError(error, 'notFound')) return tryAgain('it is gone');
    throw error;
  }
};

const tryAgain = (why: string): Reservation => ({ kind: 'tryAgain', why });
