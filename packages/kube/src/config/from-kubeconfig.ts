import type { Clock } from '../clock/clock.ts';
import type { ClusterConfig } from './cluster-config.ts';
import { checkNamespace, ConfigError, type ConfigLocation, type ReadFile, readRequired } from './config-file.ts';
import {
  bearerToken,
  certificateFiles,
  combine,
  type CredentialSource,
  type PemSource,
  staticCredentials,
  tokenFile,
} from './credentials.ts';
import { type ExecCluster, execPlugin } from './exec-plugin.ts';
import type { ClusterEntry, ContextEntry, Kubeconfig, UserEntry } from './kubeconfig.ts';
import { checkCertificates, decodeBase64 } from './pem.ts';

interface KubeconfigOptions {
  env: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  readFile: ReadFile;
}

/** What one context of a kubeconfig comes to. */
export const fromKubeconfig = async (
  all: Kubeconfig,
  wanted: string | undefined,
  options: KubeconfigOptions,
): Promise<ClusterConfig> => {
  const context = contextOf(all, wanted);
  const cluster = clusterOf(all, context);
  const address = await clusterAddress(cluster, options.readFile);
  const credentials = await userCredentials(userOf(all, context), {
    ...options,
    cluster: execClusterOf(address, cluster),
  });
  return {
    ...address,
    namespace: checkNamespace(context.fields.locationOf('namespace'), context.namespace ?? 'default'),
    ...credentials,
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
  const place = fields.locationOf('cluster');
  if (cluster === undefined) throw new ConfigError(place, 'is missing.');
  const entry = clusters.get(cluster);
  if (entry === undefined) throw new ConfigError(place, `there is no cluster "${cluster}" in clusters[].`);
  return entry;
};

const userOf = ({ users }: Kubeconfig, { fields, user }: ContextEntry): UserEntry => {
  const place = fields.locationOf('user');
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

type ClusterAddress = Pick<ClusterConfig, 'server' | 'ca' | 'insecureSkipTlsVerify' | 'serverName'>;

const clusterAddress = async (entry: ClusterEntry, readFile: ReadFile): Promise<ClusterAddress> => {
  const { fields, server, serverName, insecureSkipTlsVerify, proxyUrl } = entry;
  if (server === undefined) throw new ConfigError(fields.locationOf('server'), 'is missing.');
  if (proxyUrl !== undefined)
    throw new ConfigError(
      fields.locationOf('proxy-url'),
      'proxies are not supported. Remove it and reach the server directly.',
    );
  const ca = await authorityOf(entry, readFile);
  if (ca !== undefined && insecureSkipTlsVerify)
    throw new ConfigError(
      fields.locationOf('insecure-skip-tls-verify'),
      'contradicts the certificate authority beside it. Remove one of them.',
    );
  return {
    server: checkServerUrl(fields.locationOf('server'), server),
    ...(ca === undefined ? {} : { ca }),
    ...(insecureSkipTlsVerify ? { insecureSkipTlsVerify } : {}),
    ...(serverName === undefined ? {} : { serverName }),
  };
};

/** Without the text itself in the error: somebody may have put a password into it. */
export const checkServerUrl = (place: ConfigLocation, server: string): string => {
  const url = URL.parse(server);
  if (url === null) throw new ConfigError(place, 'is not a URL. It must look like https://host:6443.');
  if (url.protocol !== 'https:')
    throw new ConfigError(
      place,
      'must be an https:// URL: credentials are not sent over a connection that is not encrypted.',
    );
  if (url.username !== '' || url.password !== '')
    throw new ConfigError(place, 'must not hold a user name or a password. Put the credentials into users[].');
  if (url.search !== '' || url.hash !== '') throw new ConfigError(place, 'must not have a query or a fragment.');
  return server.replace(/\/+$/, '');
};

const authorityOf = async (
  { fields, caData, caFile }: ClusterEntry,
  readFile: ReadFile,
): Promise<string | undefined> => {
  const place = fields.locationOf(caData === undefined ? 'certificate-authority' : 'certificate-authority-data');
  const pem =
    caData !== undefined
      ? decodeBase64(place, caData)
      : caFile === undefined
        ? undefined
        : await readRequired(readFile, caFile, place);
  if (pem !== undefined) checkCertificates(place, pem);
  return pem;
};

interface UserOptions {
  env: Readonly<Record<string, string | undefined>>;
  readFile: ReadFile;
  clock: Clock;
  cluster: ExecCluster;
}

/** Who the kubeconfig says that we are. What it holds is checked, files are read once; an exec plugin is not run yet. */
const userCredentials = async (user: UserEntry, options: UserOptions): Promise<ReturnType<typeof combine>> => {
  rejectUnsupported(user);
  if (user.exec !== undefined) return combine([execPlugin(user.exec, { ...options })]);
  const sources = [tokenOf(user, options), certificateOf(user, options)].filter((source) => source !== undefined);
  const all = combine(sources);
  await all.credentials();
  return all;
};

/** A field that is not understood must not be passed over: the server would see somebody else than was meant. */
const rejectUnsupported = ({
  fields,
  unsupported,
  exec,
  token,
  tokenFile: file,
  certificateData,
  certificateFile,
}: UserEntry): void => {
  const [first] = unsupported;
  if (first !== undefined) throw new ConfigError(fields.locationOf(first), whyUnsupported(first));
  const other = token ?? file ?? certificateData ?? certificateFile;
  if (exec !== undefined && other !== undefined)
    throw new ConfigError(exec.fields.location, 'stands beside other credentials of the same user. Keep one of them.');
};

const whyUnsupported = (name: string): string => {
  switch (name) {
    case 'username':
    case 'password':
      return 'Kubernetes dropped user names with passwords in 1.19. Use a token, a client certificate or an exec plugin.';
    case 'auth-provider':
      return 'auth providers were dropped from kubectl in 1.26. Use the exec plugin of your cloud.';
    default:
      return 'acting as somebody else is not supported here. Use credentials of that user.';
  }
};

const tokenOf = ({ fields, token, tokenFile: path }: UserEntry, options: UserOptions): CredentialSource | undefined => {
  // kubectl prefers the file, too.
  if (path !== undefined) return tokenFile(path, fields.locationOf('tokenFile'), options);
  return token === undefined ? undefined : staticCredentials(bearerToken(fields.locationOf('token'), token));
};

const certificateOf = (user: UserEntry, options: UserOptions): CredentialSource | undefined => {
  const cert = pemSourceOf(user, 'client-certificate', user.certificateData, user.certificateFile);
  const key = pemSourceOf(user, 'client-key', user.keyData, user.keyFile);
  if (cert === undefined && key === undefined) return undefined;
  if (cert === undefined)
    throw new ConfigError(user.fields.locationOf('client-certificate'), 'is missing, but there is a client-key.');
  if (key === undefined)
    throw new ConfigError(user.fields.locationOf('client-key'), 'is missing, but there is a client-certificate.');
  return certificateFiles(cert, key, options);
};

const pemSourceOf = (
  { fields }: UserEntry,
  name: string,
  data: string | undefined,
  path: string | undefined,
): PemSource | undefined => {
  // Data wins over a file, as it does for kubectl.
  const place = fields.locationOf(data === undefined ? name : `${name}-data`);
  if (data !== undefined) return { place, text: decodeBase64(place, data) };
  return path === undefined ? undefined : { place, path };
};
