import { type MacHost, parseProviderID, type ScalewayAppleSiliconMachine } from '@tartan/api';
import type { Live } from '@tartan/kube';

type Machine = Live<ScalewayAppleSiliconMachine>;

/** A Mac, and its name at Scaleway as it is right now. */
export interface Found {
  readonly host: Live<MacHost>;
  readonly serverName: string;
}

/**
 * The machine that may still need this Mac, if there is one; also one that is being deleted. Whoever has reserved it, is bound to it, or
 * bears its name (E2: the rename is part of a claim, so a name counts before anything else is written).
 * Its holder does not need it if it is known to live on another one.
 */
export const ownerOf = (found: Found, machines: readonly Machine[]): Machine | undefined =>
  machines.find((machine) => mayNeed(machine, found));

const mayNeed = ({ metadata, spec, status }: Machine, { host, serverName }: Found): boolean => {
  const id = host.metadata.name;
  const bound = parseProviderID(spec.providerID ?? '')?.serverID;
  if (status?.serverID === id || bound === id) return true;
  const isHolder = host.spec.consumerRef?.uid === metadata.uid;
  // Both say so, and one of them never changes once the machine is provisioned: a status alone may have been edited by hand (I-24).
  const livesElsewhere = !!status?.serverID && status.serverID === bound;
  return isHolder ? !livesElsewhere : metadata.name === serverName;
};
