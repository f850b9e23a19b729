import { dirname, resolve } from 'node:path';
import type { ClusterConfig, ConfigContext } from './cluster-config.ts';
import { checkNamespace, ConfigError, type ConfigLocation, fieldOf } from './config-file.ts';
import {
  bearerToken,
  clientCertificate,
  combine,
  type CredentialSource,
  type PemSource,
  readPem,
  staticCredentials,
  tokenFile,
} from './credentials.ts';
import { execPlugin } from './exec-plugin.ts';
import type { ClusterEntry, ContextEntry, Kubeconfig, UserEntry } from './kubeconfig.ts';
import { checkCertificates, decodeBase64 } from './pem.ts';

/** The cluster and the user of one context of a kubeconfig. */
export const fromKubeconfig = async (
  all: Kubeconfig,
  wanted: string | undefined,
  options: ConfigContext,
): Promise<ClusterConfig> => {
  const context = contextOf(all, wanted);
  const cluster = referenced(context, 'cluster', all.clusters);
  const address = await clusterAddress(cluster, options);
  const credentials = await userCredentials(
    referenced(context, 'user', all.users),
    execClusterOf(address, cluster),
    options,
  );
  return {
    ...address,
    namespace: checkNamespace(fieldOf(context.location, 'namespace'), context.namespace ?? 'default'),
    ...credentials,
  };
};

const contextOf = ({ file, currentContext, contexts }: Kubeconfig, wanted: string | undefined): ContextEntry => {
  const name = wanted ?? currentContext;
  const names = new Set(contexts.map((context) => context.name));
  const known = contexts.length === 0 ? 'There is none in it' : `There are: ${[...names].join(', ')}`;
  const choose = `${known}. Choose one with "kubectl config use-context".`;
  if (name === undefined) throw new ConfigError({ file, field: 'current-context' }, `is missing. ${choose}`);
  const context = contexts.find((entry) => entry.name === name);
  if (context !== undefined) return context;
  throw new ConfigError(
    { file, field: wanted === undefined ? 'current-context' : 'contexts' },
    `there is no context "${name}". ${choose}`,
  );
};

const referenced = <T extends { readonly name: string }>(
  context: ContextEntry,
  kind: 'cluster' | 'user',
  entries: readonly T[],
): T => {
  const { [kind]: name, location } = context;
  if (name === undefined) throw new ConfigError(fieldOf(location, kind), 'is missing.');
  const entry = entries.find((candidate) => candidate.name === name);
  if (entry === undefined)
    throw new ConfigError(fieldOf(location, kind), `there is no ${kind} "${name}" in ${kind}s[].`);
  return entry;
};

type ClusterAddress = Pick<ClusterConfig, 'server' | 'ca' | 'insecureSkipTlsVerify' | 'serverName'>;

/** The cluster information that a plugin gets as JSON if the kubeconfig sets provideClusterInfo. */
const execClusterOf = (
  { server, ca, insecureSkipTlsVerify, serverName }: ClusterAddress,
  { extensions }: ClusterEntry,
): object => ({
  server,
  'tls-server-name': serverName,
  'insecure-skip-tls-verify': insecureSkipTlsVerify || undefined,
  'certificate-authority-data': ca && Buffer.from(ca).toString('base64'),
  config: extensions.find(({ name }) => name === 'client.authentication.k8s.io/exec')?.extension ?? undefined,
});

const clusterAddress = async (entry: ClusterEntry, options: ConfigContext): Promise<ClusterAddress> => {
  const { location, server, 'insecure-skip-tls-verify': insecureSkipTlsVerify } = entry;
  if (server === undefined) throw new ConfigError(fieldOf(location, 'server'), 'is missing.');
  if (entry['proxy-url'] !== undefined)
    throw new ConfigError(
      fieldOf(location, 'proxy-url'),
      'proxies are not supported. Remove it and reach the server directly.',
    );
  const authority = pemSourceOf(entry, 'certificate-authority');
  const ca = authority && (await readPem(authority, options));
  if (authority && ca !== undefined) checkCertificates(authority.location, ca);
  if (ca !== undefined && insecureSkipTlsVerify)
    throw new ConfigError(
      fieldOf(location, 'insecure-skip-tls-verify'),
      'contradicts the certificate authority beside it. Remove one of them.',
    );
  return {
    server: checkServerUrl(fieldOf(location, 'server'), server),
    ca,
    insecureSkipTlsVerify,
    serverName: entry['tls-server-name'],
  };
};

/** The error does not quote the URL: it may contain a password. */
export const checkServerUrl = (location: ConfigLocation, server: string): string => {
  const url = URL.parse(server);
  if (url === null) throw new ConfigError(location, 'is not a URL. It must look like https://host:6443.');
  if (url.protocol !== 'https:')
    throw new ConfigError(
      location,
      'must be an https:// URL: credentials are not sent over a connection that is not encrypted.',
    );
  if (url.username !== '' || url.password !== '')
    throw new ConfigError(location, 'must not hold a user name or a password. Put the credentials into users[].');
  if (url.search !== '' || url.hash !== '') throw new ConfigError(location, 'must not have a query or a fragment.');
  return server.replace(/\/+$/, '');
};

/** The validated credentials of a user. Files are read once; an exec plugin is not run yet. */
const userCredentials = async (
  user: UserEntry,
  execCluster: object,
  options: ConfigContext,
): Promise<ReturnType<typeof combine>> => {
  rejectUnsupported(user);
  const { exec, location } = user;
  if (exec !== undefined) return combine([execPlugin(exec, fieldOf(location, 'exec'), execCluster, options)]);
  const sources = [tokenOf(user, options), certificateOf(user, options)].filter((source) => source !== undefined);
  const all = combine(sources);
  await all.credentials();
  return all;
};

const impersonation = 'acting as somebody else is not supported here. Use credentials of that user.';
const basicAuth =
  'Kubernetes dropped user names with passwords in 1.19. Use a token, a client certificate or an exec plugin.';

const unsupportedFields = {
  username: basicAuth,
  password: basicAuth,
  'auth-provider': 'auth providers were dropped from kubectl in 1.26. Use the exec plugin of your cloud.',
  as: impersonation,
  'as-uid': impersonation,
  'as-groups': impersonation,
  'as-user-extra': impersonation,
};

/** Unsupported fields must not be ignored: the server would authenticate a different user. */
const rejectUnsupported = (user: UserEntry): void => {
  for (const [name, why] of Object.entries(unsupportedFields))
    if (isSet(user[name])) throw new ConfigError(fieldOf(user.location, name), why);
  const other = user.token ?? user.tokenFile ?? user['client-certificate-data'] ?? user['client-certificate'];
  if (user.exec !== undefined && other !== undefined)
    throw new ConfigError(
      fieldOf(user.location, 'exec'),
      'stands beside other credentials of the same user. Keep one of them.',
    );
};

/** `password: ""` and `as-groups: []` count as unset. */
const isSet = (value: unknown): boolean =>
  value !== undefined && value !== null && value !== '' && !(Array.isArray(value) && value.length === 0);

const tokenOf = ({ location, token, tokenFile: path }: UserEntry, options: ConfigContext) => {
  // The file has priority, as in kubectl.
  if (path !== undefined) return tokenFile(pathFrom(location, path), fieldOf(location, 'tokenFile'), options);
  return token === undefined ? undefined : staticCredentials(bearerToken(fieldOf(location, 'token'), token));
};

const certificateOf = (user: UserEntry, options: ConfigContext): CredentialSource | undefined => {
  const { location } = user;
  const cert = pemSourceOf(user, 'client-certificate');
  const key = pemSourceOf(user, 'client-key');
  if (cert === undefined && key === undefined) return undefined;
  if (cert === undefined)
    throw new ConfigError(fieldOf(location, 'client-certificate'), 'is missing, but there is a client-key.');
  if (key === undefined)
    throw new ConfigError(fieldOf(location, 'client-key'), 'is missing, but there is a client-certificate.');
  return clientCertificate(cert, key, options);
};

/** Data has priority over a file, as in kubectl. */
const pemSourceOf = (
  { location: entryLocation, ...entry }: { location: ConfigLocation; [field: string]: unknown },
  name: string,
): PemSource | undefined => {
  const { [`${name}-data`]: data, [name]: path } = entry;
  const location = fieldOf(entryLocation, typeof data === 'string' ? `${name}-data` : name);
  if (typeof data === 'string') return { location, text: decodeBase64(location, data) };
  return typeof path === 'string' ? { location, path: pathFrom(location, path) } : undefined;
};

const pathFrom = ({ file }: ConfigLocation, path: string): string => resolve(dirname(file), path);
