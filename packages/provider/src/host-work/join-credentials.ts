import type { CallOptions, Client, Redactor } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import { type ClusterAddress, joinKubeconfig } from '../identity/join-kubeconfig.ts';
import { mintJoinToken, type RandomBytes, type TokenRecord } from '../identity/join-token.ts';

/** The token is used within the bootstrap for which it was made: no step of that takes as long as this. */
const tokenLifetimeMs = 3_600_000;

export interface JoinOptions extends CallOptions {
  readonly machine: { readonly name: string; readonly namespace: string; readonly uid: string };
  /** `status.joinTokenID`, if there is one: that token goes first. */
  readonly recorded: string | undefined;
  /** Writes the new id into the machine's status, guarded by its resource version, before the token exists. */
  readonly record: (record: TokenRecord) => Promise<void>;
  /** How Macs reach the API server: asked anew each time, as it may move. */
  readonly address: (call: CallOptions) => Promise<ClusterAddress>;
  readonly clock: Clock;
  readonly random: RandomBytes;
  /** The one of the process' logs: it gets to know every token. */
  readonly redactor: Pick<Redactor, 'add'>;
}

export interface JoinCredentials {
  /** Says nothing about them: the public half of the token. For `HostFacts.joinVersion` and `status.joinVersion`. */
  readonly joinVersion: string;
  /** A secret: `HostSecrets.joinKubeconfig`. */
  readonly kubeconfig: string;
}

/**
 * What the Mac of a machine joins with. Rejects with ClusterAddressError before anything is made, when a person has to say where the
 * API server is; with KubeError otherwise. Doing it again is safe: the token before is deleted, whether it was used or not.
 */
export const makeJoinCredentials = async (client: Client, options: JoinOptions): Promise<JoinCredentials> => {
  const { machine, recorded, record, clock, random, redactor, signal, deadlineMs } = options;
  const call = { ...(signal && { signal }), ...(deadlineMs !== undefined && { deadlineMs }) };
  const address = await options.address(call);
  const minting = { ...call, machine, recorded, record, clock, random, lifetimeMs: tokenLifetimeMs };
  const token = await mintJoinToken(client, minting);
  redactor.add(token.reveal());
  const kubeconfig = joinKubeconfig({ ...address, token, nodeName: machine.name });
  redactor.add(kubeconfig);
  return { joinVersion: token.tokenID, kubeconfig };
};
