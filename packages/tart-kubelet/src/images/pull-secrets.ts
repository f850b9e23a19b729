import { type Client, ignoreNotFound, secrets } from '@tartan/kube';
import type { RegistryCredentials } from '@tartan/tart';
import * as z from 'zod/mini';
import { catch as withFallback } from 'zod/mini';
import { parseJson } from '../parse-json.ts';
import type { Pod } from '../pods/snapshot.ts';
import type { ImageReference } from './image-reference.ts';

/** The fields of a Secret that are read. */
interface PullSecret {
  readonly name: string;
  readonly data?: Readonly<Record<string, string>> | undefined;
}

interface FoundCredentials {
  readonly credentials: RegistryCredentials | undefined;
  /** For users; never contains the content of a Secret. */
  readonly problems: readonly string[];
}

const optionalString = withFallback(z.optional(z.string()), undefined);
const authSchema = z.object({ username: optionalString, password: optionalString, auth: optionalString });
const authsSchema = z.record(
  z.string(),
  withFallback(authSchema, { username: undefined, password: undefined, auth: undefined }),
);
const configSchema = z.object({ auths: authsSchema });

type Auths = z.infer<typeof authsSchema>;

const decodeBase64 = (base64: string | undefined): string => Buffer.from(base64 ?? '', 'base64').toString('utf8');

const authsOf = ({ data }: PullSecret): Auths | undefined => {
  const modern = data?.['.dockerconfigjson'];
  if (modern !== undefined) return parseJson(configSchema, decodeBase64(modern))?.auths;
  return parseJson(authsSchema, decodeBase64(data?.['.dockercfg']));
};

/** Docker writes its own registry as a URL; other keys are hosts, optionally with a scheme, a path or wildcards. */
const normalizeKey = (key: string): string => {
  const plain = key
    .toLowerCase()
    .replace(/^https?:\/\//, '')
    .replace(/\/v[12]\/?$/, '')
    .replace(/\/+$/, '');
  return plain === 'index.docker.io' ? 'docker.io' : plain;
};

/** `*` matches within one label, as in Kubernetes. */
const matchesRepository = (key: string, repository: string): boolean => {
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

const loginOf = (
  auth: z.infer<typeof authSchema>,
): { readonly username: string; readonly password: string } | undefined => {
  const { username, password } = auth;
  if (username !== undefined && username !== '' && password !== undefined) return { username, password };
  const joined = decodeBase64(auth.auth);
  const colon = joined.indexOf(':');
  // A password may contain colons, a user name may not.
  return colon < 1 ? undefined : { username: joined.slice(0, colon), password: joined.slice(colon + 1) };
};

/** The credentials in `imagePullSecrets` for this image: the longest matching path wins, then the Pod's order. */
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
      const normal = normalizeKey(key);
      if (!matchesRepository(normal, image.repository)) continue;
      const user = loginOf(auth);
      if (user === undefined)
        problems.push(`Secret ${secret.name} has neither a user with a password nor an auth for ${image.registry}`);
      else found.push({ length: normal.split('/').length, credentials: { host: image.registry, ...user } });
    }
  }
  found.sort((one, other) => other.length - one.length);
  return { credentials: found[0]?.credentials, problems };
};

export type PullCredentials = (pod: Pod, image: ImageReference, signal: AbortSignal) => Promise<FoundCredentials>;

/**
 * The credentials in the Pod's `imagePullSecrets` for an image, by live reads. A missing Secret is a problem, not an error, as in the
 * kubelet: the image may be public, or another Secret may match. Rejects with a KubeError when the API server is unreachable.
 */
export const createPullCredentials =
  (client: Client): PullCredentials =>
  async ({ metadata, spec }, image, signal) => {
    const namespace = metadata?.namespace ?? 'default';
    const names = [...new Set((spec?.imagePullSecrets ?? []).map(({ name }) => name ?? ''))];
    const missing: string[] = [];
    const read = async (name: string): Promise<PullSecret[]> => {
      const secret = await ignoreNotFound(client.get(secrets, { namespace, name }, { signal }));
      if (secret !== undefined) return [{ name, data: secret.data }];
      missing.push(
        `Secret ${name} of imagePullSecrets is not there; make it, or take it out of the Pod and its ServiceAccount`,
      );
      return [];
    };
    const found = await Promise.all(names.filter((name) => name !== '').map(read));
    const { credentials, problems } = registryCredentials(found.flat(), image);
    return { credentials, problems: [...missing, ...problems] };
  };
