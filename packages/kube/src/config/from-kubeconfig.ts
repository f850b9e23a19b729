import type { Clock } from '../clock/clock.ts';
import { type ClusterAddress, clusterAddress } from './cluster-address.ts';
import type { ClusterConfig } from './cluster-config.ts';
import { ConfigError } from './config-error.ts';
import type { ExecCluster } from './exec-plugin.ts';
import type { ClusterEntry, ContextEntry, Kubeconfig, UserEntry } from './kubeconfig.ts';
import { checkNamespace } from './namespace.ts';
import type { ReadFile } from './read-file.ts';
import { userCredentials } from './user-credentials.ts';
import { withRefresh } from './with-refresh.ts';

interface Options {
  env: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  readFile: ReadFile;
}

/** What one context of a kubeconfig comes to. */
export const fromKubeconfig = async (
  all: Kubeconfig,
  wanted: string | undefined,
  options: Options,
): Promise<ClusterConfig> => {
  const context = contextOf(all, wanted);
  const cluster = clusterOf(all, context);
  const address = await clusterAddress(cluster, options.readFile);
  const source = await userCredentials(userOf(all, context), { ...options, cluster: execClusterOf(address, cluster) });
  return {
    ...address,
    namespace: checkNamespace(context.fields.placeOf('namespace'), context.namespace ?? 'default'),
    ...withRefresh(source),
  };
};

const contextOf = ({ file, currentContext, contexts }: Kubeconfig, wanted: string | undefined): ContextEntry => {
  const name = wanted ?? currentContext;
  const known = contexts.size === 0 ? 'There is none in it' : `There are: ${[...contexts.keys()].join(', ')}`;
  const choose = `${known}. Choose one with "kubectl config use-context".`;
  if (name === undefined) throw new ConfigError({ file, field: 'current-context' }, `is missing. ${choose}`);
  const context = contexts.get(name);
  if (context !== undefined) return context;
  throw new ConfigError(
    { file, field: wanted === undefined ? 'current-context' : 'contexts' },
    `there is no context "${name}". ${choose}`,
  );
};

const clusterOf = ({ clusters }: Kubeconfig, { fields, cluster }: ContextEntry): ClusterEntry => {
  const place = fields.placeOf('cluster');
  if (cluster === undefined) throw new ConfigError(place, 'is missing.');
  const entry = clusters.get(cluster);
  if (entry === undefined) throw new ConfigError(place, `there is no cluster "${cluster}" in clusters[].`);
  return entry;
};

const userOf = ({ users }: Kubeconfig, { fields, user }: ContextEntry): UserEntry => {
  const place = fields.placeOf('user');
  if (user === undefined) throw new ConfigError(place, 'is missing.');
  const entry = users.get(user);
  if (entry === undefined) throw new ConfigError(place, `there is no user "${user}" in users[].`);
  return entry;
};

const execClusterOf = (
  { server, ca, insecureSkipTlsVerify, serverName }: ClusterAddress,
  { execConfig }: ClusterEntry,
): ExecCluster => ({
  server,
  ...(serverName === undefined ? {} : { 'tls-server-name': serverName }),
  ...(insecureSkipTlsVerify ? { 'insecure-skip-tls-verify': true } : {}),
  ...(ca === undefined ? {} : { 'certificate-authority-data': Buffer.from(ca).toString('base64') }),
  ...(execConfig === undefined ? {} : { config: execConfig }),
});
