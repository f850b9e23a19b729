import { dirname, isAbsolute, join } from 'node:path';
import { ConfigError, type ConfigFields, fieldsOf, parseYaml } from './config-file.ts';

/** What one kubeconfig file says, typed; every entry remembers where it stands. Names map to the first entry of that name. */
export interface Kubeconfig {
  /** Names the files in errors that no single field is to blame for. */
  file: string;
  currentContext: string | undefined;
  clusters: ReadonlyMap<string, ClusterEntry>;
  users: ReadonlyMap<string, UserEntry>;
  contexts: ReadonlyMap<string, ContextEntry>;
}

export interface ContextEntry {
  fields: ConfigFields;
  cluster: string | undefined;
  user: string | undefined;
  namespace: string | undefined;
}

export interface ClusterEntry {
  fields: ConfigFields;
  server: string | undefined;
  caData: string | undefined;
  caFile: string | undefined;
  insecureSkipTlsVerify: boolean;
  serverName: string | undefined;
  proxyUrl: string | undefined;
  /** What an exec plugin is told of this cluster. */
  execConfig: unknown;
}

export interface UserEntry {
  fields: ConfigFields;
  token: string | undefined;
  tokenFile: string | undefined;
  certificateData: string | undefined;
  certificateFile: string | undefined;
  keyData: string | undefined;
  keyFile: string | undefined;
  exec: ExecEntry | undefined;
  /** Members that ask for something that is not done here. */
  unsupported: readonly string[];
}

export interface ExecEntry {
  fields: ConfigFields;
  apiVersion: string | undefined;
  command: string | undefined;
  args: readonly string[];
  env: readonly { name: string; value: string }[];
  installHint: string | undefined;
  interactiveMode: string | undefined;
  provideClusterInfo: boolean;
}

/** Parses all of it: a wrong type in an entry that nobody uses is an error too, as it is for kubectl. */
export const parseKubeconfig = async (file: string, text: string): Promise<Kubeconfig> => {
  const top = fieldsOf({ file, field: '' }, (await parseYaml(file, text)) ?? {});
  const folder = dirname(file);
  return {
    file,
    currentContext: top.text('current-context'),
    clusters: byName(top, 'clusters', 'cluster', (fields) => parseCluster(folder, fields)),
    users: byName(top, 'users', 'user', (fields) => parseUser(folder, fields)),
    contexts: byName(top, 'contexts', 'context', parseContext),
  };
};

const byName = <T>(
  top: ConfigFields,
  list: string,
  member: string,
  parse: (fields: ConfigFields) => T,
): Map<string, T> => {
  const found = new Map<string, T>();
  for (const entry of top.maps(list)) {
    const name = entry.text('name');
    if (name === undefined) throw new ConfigError(entry.locationOf('name'), 'is missing.');
    if (found.has(name)) throw new ConfigError(entry.locationOf('name'), `"${name}" is there twice. Remove one.`);
    found.set(name, parse(entry.map(member) ?? fieldsOf(entry.locationOf(member), {})));
  }
  return found;
};

const parseContext = (fields: ConfigFields): ContextEntry => ({
  fields,
  cluster: fields.text('cluster'),
  user: fields.text('user'),
  namespace: fields.text('namespace'),
});

const parseCluster = (folder: string, fields: ConfigFields): ClusterEntry => ({
  fields,
  server: fields.text('server'),
  caData: fields.text('certificate-authority-data'),
  caFile: pathFrom(folder, fields.text('certificate-authority')),
  insecureSkipTlsVerify: fields.flag('insecure-skip-tls-verify'),
  serverName: fields.text('tls-server-name'),
  proxyUrl: fields.text('proxy-url'),
  execConfig: fields
    .maps('extensions')
    .find((extension) => extension.text('name') === 'client.authentication.k8s.io/exec')
    ?.raw('extension'),
});

const unsupportedFields = [
  'username',
  'password',
  'auth-provider',
  'as',
  'as-uid',
  'as-groups',
  'as-user-extra',
] as const;

const parseUser = (folder: string, fields: ConfigFields): UserEntry => {
  const exec = fields.map('exec');
  return {
    fields,
    token: fields.text('token'),
    tokenFile: pathFrom(folder, fields.text('tokenFile')),
    certificateData: fields.text('client-certificate-data'),
    certificateFile: pathFrom(folder, fields.text('client-certificate')),
    keyData: fields.text('client-key-data'),
    keyFile: pathFrom(folder, fields.text('client-key')),
    exec: exec && parseExec(folder, exec),
    unsupported: unsupportedFields.filter((name) => isSet(fields.raw(name))),
  };
};

const parseExec = (folder: string, fields: ConfigFields): ExecEntry => {
  const command = fields.text('command');
  return {
    fields,
    apiVersion: fields.text('apiVersion'),
    // A bare name is looked up in PATH; anything with a slash is a path.
    command: command?.includes('/') ? pathFrom(folder, command) : command,
    args: fields.texts('args'),
    env: fields.maps('env').map((variable) => {
      const name = variable.text('name');
      if (name === undefined) throw new ConfigError(variable.locationOf('name'), 'is missing.');
      return { name, value: variable.text('value') ?? '' };
    }),
    installHint: fields.text('installHint'),
    interactiveMode: fields.text('interactiveMode'),
    provideClusterInfo: fields.flag('provideClusterInfo'),
  };
};

const pathFrom = (folder: string, path: string | undefined): string | undefined =>
  path === undefined || isAbsolute(path) ? path : join(folder, path);

/** `password: ""` and `as-groups: []` ask for nothing. */
const isSet = (value: unknown): boolean =>
  value !== undefined && value !== '' && !(Array.isArray(value) && value.length === 0);

/**
 * Several files as one, by the rules of kubectl: the first that says something wins, entry by entry. Two entries of the same
 * name are never mixed, not even where they do not contradict each other.
 */
export const mergeKubeconfigs = (files: readonly Kubeconfig[]): Kubeconfig => ({
  file: files.map(({ file }) => file).join(', '),
  currentContext: files.find(({ currentContext }) => currentContext !== undefined)?.currentContext,
  clusters: firstOfEach(files.map(({ clusters }) => clusters)),
  users: firstOfEach(files.map(({ users }) => users)),
  contexts: firstOfEach(files.map(({ contexts }) => contexts)),
});

const firstOfEach = <T>(maps: readonly ReadonlyMap<string, T>[]): Map<string, T> =>
  new Map([...maps].reverse().flatMap((map) => [...map]));
