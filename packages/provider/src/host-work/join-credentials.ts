import type { CallOptions, Client, Redactor } from '@tartan/kube';
import { type ClusterAddress, joinKubeconfig } from '../identity/join-kubeconfig.ts';
import { type MintOptions, mintJoinToken } from '../identity/join-token.ts';

/** The token is used within the bootstrap for which it was made: no step of that takes as long as this. */
const tokenLifetimeMs = 3_600_000;

export interface JoinOptions extends Omit<MintOptions, 'lifetimeMs'> {
  /** How Macs reach the API server: asked anew each time, as it may move. */
  readonly address: (call: CallOptions) => Promise<ClusterAddress>;
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
  const { machine, redactor, signal, deadlineMs } = options;
  const address = await options.address({ signal, deadlineMs });
  const token = await mintJoinToken(client, { ...options, lifetimeMs: tokenLifetimeMs });
  redactor.add(token.reveal());
  const kubeconfig = joinKubeconfig({ ...address, token, nodeName: machine.name });
  redactor.add(kubeconfig);
  return { joinVersion: token.tokenID, kubeconfig };
};
