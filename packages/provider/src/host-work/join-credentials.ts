import type { CallOptions, Client, Redactor } from '@tartan/kube';
import { type ClusterAddress, joinKubeconfig } from '../identity/join-kubeconfig.ts';
import { type MintOptions, mintJoinToken } from '../identity/join-token.ts';

/** The token is used in the bootstrap that it was minted for, all steps of which are shorter. */
const tokenLifetimeMs = 3_600_000;

export interface JoinOptions extends Omit<MintOptions, 'lifetimeMs'> {
  /** How Macs reach the API server. Called each time, as the address may change. */
  readonly address: (call: CallOptions) => Promise<ClusterAddress>;
  /** That of the process' logs: every token is added. */
  readonly redactor: Pick<Redactor, 'add'>;
}

export interface JoinCredentials {
  /** The public half of the token, which reveals nothing. For `HostSpecInputs.joinVersion` and `status.joinVersion`. */
  readonly joinVersion: string;
  /** Secret: `HostSecrets.joinKubeconfig`. */
  readonly kubeconfig: string;
}

/**
 * The credentials with which the Mac of a machine joins. Rejects with ClusterAddressError, before anything is created, if a user has to
 * configure the address of the API server; otherwise with KubeError. Safe to repeat: the previous token is deleted, used or not.
 */
export const makeJoinCredentials = async (client: Client, options: JoinOptions): Promise<JoinCredentials> => {
  const { machine, redactor, signal, deadlineMs } = options;
  const address = await options.address({ signal, deadlineMs });
  const token = await mintJoinToken(client, { ...options, lifetimeMs: tokenLifetimeMs });
  redactor.add(token.reveal());
  const kubeconfig = joinKubeconfig({ ...address, token, nodeName: machine.name });
  redactor.add(kubeconfig);
  return { joinVersion: token.tokenID, kubeconfig };
};
