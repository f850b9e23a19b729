import type { Node } from '../controller-deps.ts';
import { canonicalAddress } from './csr/parse-request.ts';

/** A Mac, by what a Node can be recognised as it. */
interface KnownMac {
  readonly providerID: string | undefined;
  /** The address that Scaleway gives to it. Undefined: a Node without a providerID is not recognised. */
  readonly address: string | undefined;
}

/**
 * Whether a Node is this Mac, or somebody else's Node of the same name. Our agent registers its Node with its providerID, which nobody
 * can change from then on. Only Nodes that the agent of the original made may have none: those are recognised by their address.
 *
 * A Node can claim the providerID of a Mac that is not its own, but only under its own name: NodeRestriction lets no Node write another.
 * It gains nothing by it, as a Node is always looked for by the name of its machine.
 */
export const isNodeOf = ({ spec, status }: Node, { providerID, address }: KnownMac): boolean => {
  if (spec?.providerID) return spec.providerID === providerID;
  if (address === undefined) return false;
  const known = canonicalAddress(address);
  return (status?.addresses ?? []).some(
    ({ type, address: own }) => (type === 'InternalIP' || type === 'ExternalIP') && canonicalAddress(own) === known,
  );
};
