import { isIPv4 } from 'node:net';
import type { MachineIdentity } from '../approve/observe.ts';
import { canonical } from './alternative-names.ts';

/** Where a machine's Mac can be reached, and who says so. */
export interface Place {
  /** Those that Scaleway gives to the Mac that the machine holds. */
  readonly vouched: readonly string[];
  readonly node: NodeWord;
  /** Macs of this manager are on a tailnet, and their agents publish the address there (`--node-ip-source=tailscale`). */
  readonly tailnet: boolean;
  /** What other Nodes of the cluster say of themselves. */
  readonly elsewhere: ReadonlySet<string>;
}

/** What the Node says of itself. It writes its own status: this proves nothing alone. */
export type NodeWord =
  /** Or it has become somebody else's since the machine was looked at. */
  { readonly kind: 'absent' } | { readonly kind: 'ours'; readonly internalAddresses: readonly string[] };

/** Must not answer from a cache: an approval cannot be taken back. */
export type PlaceOf = (nodeName: string, machine: MachineIdentity, signal: AbortSignal) => Promise<Place> | Place;

/**
 * Whether a certificate may speak for that address.
 *
 * Scaleway's word is enough. An address of the tailnet nobody can vouch for but the Mac itself, as Scaleway does not know it; its Node's
 * word is taken when there is a tailnet, and no other Node says the same. Only there: who is on the tailnet cannot receive what is sent
 * to another member, so a certificate for an address that is not its own is of no use to it. On any other network it might be.
 */
export const belongs = (address: string, { vouched, node, tailnet, elsewhere }: Place): boolean =>
  vouched.some((known) => canonical(known) === address) ||
  (tailnet &&
    isOfTailnet(address) &&
    node.kind === 'ours' &&
    node.internalAddresses.includes(address) &&
    !elsewhere.has(address));

/** 100.64.0.0/10, from which every tailnet takes its addresses. */
const isOfTailnet = (address: string): boolean => {
  const [first, second] = address.split('.').map(Number);
  return isIPv4(address) && first === 100 && second !== undefined && second >= 64 && second < 128;
};
