import type { ClusterAddress } from './cluster-address.ts';
import type { JoinToken } from './join-token.ts';

export interface JoinKubeconfig extends ClusterAddress {
  readonly token: JoinToken;
  readonly nodeName: string;
}

/**
 * What the agent joins with: `HostSecrets.joinKubeconfig`. It is a secret as a whole. Its `joinVersion` is the token's id. JSON is YAML,
 * and there is nothing in it to quote wrongly.
 */
export const joinKubeconfig = ({ server, caData, token, nodeName }: JoinKubeconfig): string => {
  const cluster = { server, ...(caData === undefined ? {} : { 'certificate-authority-data': caData }) };
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'cluster', cluster }],
    users: [{ name: nodeName, user: { token: token.reveal() } }],
    contexts: [{ name: 'join', context: { cluster: 'cluster', user: nodeName } }],
    'current-context': 'join',
  };
  return `${JSON.stringify(config, undefined, 2)}\n`;
};
