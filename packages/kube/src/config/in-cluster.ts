import type { ClusterConfig, ConfigContext } from './cluster-config.ts';
import { checkNamespace, ConfigError, readIfExists, readRequired } from './config-file.ts';
import { combine, tokenFile } from './credentials.ts';
import { checkServerUrl } from './from-kubeconfig.ts';
import { checkCertificates } from './pem.ts';

/** Where the kubelet mounts the ServiceAccount token and CA of a Pod. */
export const serviceAccountFolder = '/var/run/secrets/kubernetes.io/serviceaccount';

/** The cluster of this Pod; undefined outside a Pod or without a ServiceAccount token. */
export const inClusterConfig = async (context: ConfigContext): Promise<ClusterConfig | undefined> => {
  const { readFile } = context;
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = context.env;
  if (!host || !port) return undefined;
  const [token, ca, namespace] = [fileOf('token'), fileOf('ca.crt'), fileOf('namespace')];
  if ((await readIfExists(readFile, token.file, token)) === undefined) return undefined;
  const credentials = combine([tokenFile(token.file, token, context)]);
  await credentials.credentials();
  const authority = await readRequired(readFile, ca.file, ca);
  checkCertificates(ca, authority);
  const ours = (await readIfExists(readFile, namespace.file, namespace))?.trim() || 'default';
  return {
    server: serverOf(host, port),
    ca: authority,
    namespace: checkNamespace(namespace, ours),
    ...credentials,
  };
};

const fileOf = (name: string) => ({ file: `${serviceAccountFolder}/${name}`, field: '' });

const serverOf = (host: string, port: string): string => {
  const location = { file: 'environment', field: 'KUBERNETES_SERVICE_HOST' };
  if (!/^[A-Za-z0-9.:-]+$/.test(host)) throw new ConfigError(location, 'is not a host name or an IP address.');
  if (!/^\d{1,5}$/.test(port))
    throw new ConfigError({ file: 'environment', field: 'KUBERNETES_SERVICE_PORT' }, 'is not a port.');
  return checkServerUrl(location, `https://${host.includes(':') ? `[${host}]` : host}:${port}`);
};
