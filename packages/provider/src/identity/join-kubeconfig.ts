import { managerFlags } from '@tartan/api';
import { type CallOptions, type Client, configMaps, isKubeError, parseYaml } from '@tartan/kube';
import { z } from 'zod';
import type { JoinToken } from './join-token.ts';

interface KubeconfigContent extends ClusterAddress {
  readonly token: string;
  readonly user: string;
  readonly context: string;
}

/** Secret as a whole. JSON is valid YAML and avoids quoting errors. */
export const kubeconfigWith = ({ server, caData, token, user, context }: KubeconfigContent): string => {
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'cluster', cluster: { server, 'certificate-authority-data': caData } }],
    users: [{ name: user, user: { token } }],
    contexts: [{ name: context, context: { cluster: 'cluster', user } }],
    'current-context': context,
  };
  return `${JSON.stringify(config, undefined, 2)}\n`;
};

/** The agent's join credentials: `HostSecrets.joinKubeconfig`. Their `joinVersion` is the token's id. */
export const joinKubeconfig = ({
  token,
  nodeName,
  ...address
}: ClusterAddress & { readonly token: JoinToken; readonly nodeName: string }): string =>
  kubeconfigWith({ ...address, token: token.reveal(), user: nodeName, context: 'join' });

/** How Macs reach the API server. */
export interface ClusterAddress {
  /** `https://host:port`, without a trailing slash. */
  readonly server: string;
  /** The cluster's CA, PEM in base64; absent if it is publicly trusted. */
  readonly caData?: string;
}

interface AddressOptions extends CallOptions {
  /** Overrides what the cluster publishes. */
  readonly apiServerURL?: string | undefined;
  /** PEM: the CA with which the provider itself verifies this cluster. */
  readonly ca?: string | undefined;
}

/** The address is unknown or unusable. The message says what to do; it contains nothing of what was read. */
export class ClusterAddressError extends Error {
  constructor(text: string) {
    super(text);
    this.name = 'ClusterAddressError';
  }
}

const flag = managerFlags.apiServerURL;
const source = 'ConfigMap kube-public/cluster-info';
const advice = `Set ${flag} to the URL under which Macs reach the API server.`;

const clusterInfo = z.object({ clusters: z.array(z.object({ cluster: z.object({ server: z.string() }) })).min(1) });

/**
 * From the flag, or else from what kubeadm publishes for joining nodes. The CA is the provider's own, which is known to be right, as the
 * provider uses it. Rejects with ClusterAddressError for what a user has to fix, with KubeError for what a retry may fix.
 */
export const clusterAddress = async (client: Client, options: AddressOptions = {}): Promise<ClusterAddress> => {
  const { apiServerURL, ca, signal, deadlineMs } = options;
  const call = { signal, deadlineMs };
  const server = apiServerURL ? validated(flag, apiServerURL) : validated(source, await fromClusterInfo(client, call));
  return { server, ...(ca === undefined ? {} : { caData: Buffer.from(ca).toString('base64') }) };
};

const fromClusterInfo = async (client: Client, call: CallOptions): Promise<string> => {
  const kubeconfig = (await readClusterInfo(client, call)).data?.['kubeconfig'];
  const unusable = new ClusterAddressError(`${source} holds no kubeconfig that names a server. ${advice}`);
  if (!kubeconfig) throw unusable;
  const parsed = clusterInfo.safeParse(await parseYaml(source, kubeconfig).catch(() => undefined));
  const server = parsed.data?.clusters[0]?.cluster.server;
  if (!server) throw unusable;
  return server;
};

const readClusterInfo = async (client: Client, call: CallOptions) => {
  try {
    return await client.get(configMaps, { namespace: 'kube-public', name: 'cluster-info' }, call);
  } catch (error) {
    if (isKubeError(error, 'notFound'))
      throw new ClusterAddressError(`This cluster does not say how to reach it: there is no ${source}. ${advice}`);
    if (isKubeError(error, 'forbidden'))
      throw new ClusterAddressError(
        `The provider may not read ${source}. Give it the right to get that ConfigMap, or set ${flag}.`,
      );
    throw error;
  }
};

const validated = (where: string, server: string): string => {
  const url = URL.parse(server);
  const wrong = (what: string): ClusterAddressError =>
    new ClusterAddressError(`The address of the API server from ${where} ${what}. ${advice}`);
  if (!url) throw wrong('is not a URL such as https://host:6443');
  if (url.protocol !== 'https:') throw wrong('is not an https:// URL, and tokens are not sent in the clear');
  if (url.username || url.password || url.search || url.hash)
    throw wrong('has a user name, a password, a query or a fragment, which it must not have');
  return server.trim().replace(/\/+$/, '');
};
