import type { Clock } from '../clock/clock.ts';
import { ConfigError } from './config-error.ts';
import {
  bearer,
  certificateFiles,
  type CredentialSource,
  combine,
  fixed,
  type Half,
  tokenFile,
} from './credential-source.ts';
import { type ExecCluster, execPlugin } from './exec-plugin.ts';
import type { UserEntry } from './kubeconfig.ts';
import { decodeBase64 } from './pem.ts';
import type { ReadFile } from './read-file.ts';

export interface UserOptions {
  env: Readonly<Record<string, string | undefined>>;
  readFile: ReadFile;
  clock: Clock;
  cluster: ExecCluster;
}

/** Who the kubeconfig says that we are. What it holds is checked, files are read once; an exec plugin is not run yet. */
export const userCredentials = async (user: UserEntry, options: UserOptions): Promise<CredentialSource> => {
  refuse(user);
  if (user.exec !== undefined) return combine([execPlugin(user.exec, { ...options })]);
  const sources = [tokenOf(user, options), certificateOf(user, options)].filter((source) => source !== undefined);
  const all = combine(sources);
  await all.get();
  return all;
};

/** A field that is not understood must not be passed over: the server would see somebody else than was meant. */
const refuse = ({
  fields,
  refused,
  exec,
  token,
  tokenFile: file,
  certificateData,
  certificateFile,
}: UserEntry): void => {
  const [first] = refused;
  if (first !== undefined) throw new ConfigError(fields.placeOf(first), whyRefused(first));
  const other = token ?? file ?? certificateData ?? certificateFile;
  if (exec !== undefined && other !== undefined)
    throw new ConfigError(exec.fields.place, 'stands beside other credentials of the same user. Keep one of them.');
};

const whyRefused = (name: string): string => {
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
  if (path !== undefined) return tokenFile(path, fields.placeOf('tokenFile'), options);
  return token === undefined ? undefined : fixed(bearer(fields.placeOf('token'), token));
};

const certificateOf = (user: UserEntry, options: UserOptions): CredentialSource | undefined => {
  const cert = halfOf(user, 'client-certificate', user.certificateData, user.certificateFile);
  const key = halfOf(user, 'client-key', user.keyData, user.keyFile);
  if (cert === undefined && key === undefined) return undefined;
  if (cert === undefined)
    throw new ConfigError(user.fields.placeOf('client-certificate'), 'is missing, but there is a client-key.');
  if (key === undefined)
    throw new ConfigError(user.fields.placeOf('client-key'), 'is missing, but there is a client-certificate.');
  return certificateFiles(cert, key, options);
};

const halfOf = (
  { fields }: UserEntry,
  name: string,
  data: string | undefined,
  path: string | undefined,
): Half | undefined => {
  // Data wins over a file, as it does for kubectl.
  const place = fields.placeOf(data === undefined ? name : `${name}-data`);
  if (data !== undefined) return { place, text: decodeBase64(place, data) };
  return path === undefined ? undefined : { place, path };
};
