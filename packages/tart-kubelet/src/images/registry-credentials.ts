import type { RegistryCredentials } from '@tartan/tart';
import { z } from 'zod';
import type { ImageReference } from './reference.ts';

/** As much of a Secret as is read. */
export interface PullSecret {
  readonly name: string;
  readonly type?: string | undefined;
  readonly data?: Readonly<Record<string, string>> | undefined;
}

export interface FoundCredentials {
  readonly credentials: RegistryCredentials | undefined;
  /** For people; never with anything from inside a Secret. */
  readonly problems: readonly string[];
}

const word = z.string().optional().catch(undefined);
const authSchema = z.object({ username: word, password: word, auth: word });
const authsSchema = z.record(
  z.string(),
  authSchema.catch({ username: undefined, password: undefined, auth: undefined }),
);
const configSchema = z.object({ auths: authsSchema });

type Auths = z.infer<typeof authsSchema>;

const json = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const decoded = (base64: string | undefined): string => Buffer.from(base64 ?? '', 'base64').toString('utf8');

const authsOf = ({ data }: PullSecret): Auths | undefined => {
  const modern = data?.['.dockerconfigjson'];
  if (modern !== undefined) return configSchema.safeParse(json(decoded(modern))).data?.auths;
  return authsSchema.safeParse(json(decoded(data?.['.dockercfg']))).data;
};

/** Docker writes its own registry as an address; others are a host, maybe with a scheme, a path or stars in it. */
const normalKey = (key: string): string => {
  const plain = key
    .toLowerCase()
    .replace(/^https?:\/\//, '')
    .replace(/\/v[12]\/?$/, '')
    .replace(/\/+$/, '');
  return plain === 'index.docker.io' ? 'docker.io' : plain;
};

/** A star stands for a part of one label, as Kubernetes has it. */
const covers = (key: string, repository: string): boolean => {
  const [keyHost = '', ...keyPath] = key.split('/');
  const [host = '', ...path] = repository.toLowerCase().split('/');
  const labels = host.split(/[.:]/);
  const wanted = keyHost.split(/[.:]/);
  const fits = (pattern: string, label: string): boolean =>
    new RegExp(`^${pattern.split('*').map(RegExp.escape).join('[^.:]*')}$`).test(label);
  return (
    (keyHost === host ||
      (keyHost.includes('*') &&
        keyHost.includes(':') === host.includes(':') &&
        wanted.length === labels.length &&
        wanted.every((pattern, at) => fits(pattern, labels[at] ?? '')))) &&
    keyPath.every((part, at) => part === path[at])
  );
};

const userOf = (
  auth: z.infer<typeof authSchema>,
): { readonly username: string; readonly password: string } | undefined => {
  const { username, password } = auth;
  if (username !== undefined && username !== '' && password !== undefined) return { username, password };
  const joined = decoded(auth.auth);
  const colon = joined.indexOf(':');
  // A password may have colons, a user may not.
  return colon < 1 ? undefined : { username: joined.slice(0, colon), password: joined.slice(colon + 1) };
};

/** What `imagePullSecrets` hold for this image: the entry that names most of its path, and of those the first in the Pod's order. */
export const registryCredentials = (secrets: readonly PullSecret[], image: ImageReference): FoundCredentials => {
  const problems: string[] = [];
  const found: { readonly length: number; readonly credentials: RegistryCredentials }[] = [];
  for (const secret of secrets) {
    const auths = authsOf(secret);
    if (auths === undefined) {
      problems.push(
        `Secret ${secret.name} holds no registry credentials; make it of type kubernetes.io/dockerconfigjson`,
      );
      continue;
    }
    for (const [key, auth] of Object.entries(auths)) {
      const normal = normalKey(key);
      if (!covers(normal, image.repository)) continue;
      const user = userOf(auth);
      if (user === undefined)
        problems.push(`Secret ${secret.name} has neither a user with a password nor an auth for ${image.registry}`);
      else found.push({ length: normal.split('/').length, credentials: { host: image.registry, ...user } });
    }
  }
  found.sort((one, other) => other.length - one.length);
  return { credentials: found[0]?.credentials, problems };
};
