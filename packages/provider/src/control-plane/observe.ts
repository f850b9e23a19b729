import {
  annotations,
  clusterSecretType,
  type ExternalControlPlane,
  labels,
  secretKeys,
  secretNames,
} from '@tartan/api';
import {
  type CallOptions,
  type Client,
  getController,
  isKubeError,
  isOwnedBy,
  type Live,
  type ObjectName,
  secrets,
  serviceAccounts,
} from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import type { SecretFacts, Snapshot } from './decide.ts';
import { type Target, targetIn } from './kubeconfig.ts';
import { readMemory } from './token-memory.ts';
import { whose } from './whose.ts';

export type Secret = NonNullable<(typeof secrets)['ofType']>;

export interface Observer {
  client: Pick<Client, 'get'>;
  clock: Pick<Clock, 'now'>;
  /** Where the API server is for whoever runs in the cluster: see `serviceAddress`. */
  address: (options: CallOptions) => Promise<string>;
  /** PEM: the authority by which the provider itself knows the API server. */
  ca: string;
  lifeMs: number;
  lookAgainMs: number;
}

export interface Observation {
  snapshot: Snapshot;
  secret: Live<Secret> | undefined;
  /** Why the target is not known. */
  problem?: unknown;
}

const ifThere = async <T>(found: Promise<T>): Promise<T | undefined> => {
  try {
    return await found;
  } catch (error) {
    if (isKubeError(error, 'notFound')) return undefined;
    throw error;
  }
};

/** Read from the server and not from a cache: a Secret that is a moment old would be taken for one that needs a new token. */
export const observe = async (
  { client, clock, address, ca, lifeMs, lookAgainMs }: Observer,
  controlPlane: Live<ExternalControlPlane>,
  cluster: string,
  signal: AbortSignal,
): Promise<Observation> => {
  const { namespace = '', uid } = controlPlane.metadata;
  const { serviceAccountName, server } = controlPlane.spec;
  const at = (name: string): ObjectName => ({ namespace, name });
  const secret = await ifThere(client.get(secrets, at(secretNames.kubeconfig(cluster)), { signal }));
  const account = await ifThere(client.get(serviceAccounts, at(serviceAccountName), { signal }));
  const found = await targetOf(() => (server ? Promise.resolve(server) : address({ signal })), ca);
  signal.throwIfAborted();
  return {
    secret,
    snapshot: {
      mode: controlPlane.spec.kubeconfig,
      secret: secret && (await factsOf(secret, uid, cluster)),
      account: account?.metadata.uid,
      target: found.target,
      now: clock.now(),
      lifeMs,
      lookAgainMs,
    },
    ...('problem' in found ? { problem: found.problem } : {}),
  };
};

const targetOf = async (
  address: () => Promise<string>,
  ca: string,
): Promise<{ target: Target } | { target?: never; problem: unknown }> => {
  try {
    const server = (await address()).replace(/\/+$/, '');
    if (URL.parse(server)?.protocol !== 'https:')
      throw new Error('The address of the API server is not an https:// URL, and tokens are not sent in the clear.');
    return { target: { server, caData: Buffer.from(ca).toString('base64') } };
  } catch (problem) {
    return { problem };
  }
};

const factsOf = async (secret: Live<Secret>, owner: string, cluster: string): Promise<SecretFacts> => {
  const kubeconfig = Buffer.from(secret.data?.[secretKeys.kubeconfig] ?? '', 'base64').toString();
  const controller = getController(secret);
  const note = secret.metadata.annotations?.[annotations.kubeconfigToken];
  const memory = readMemory(note, kubeconfig);
  const content = await whose(kubeconfig, memory);
  return {
    holder: controller === undefined ? 'nobody' : controller.uid === owner ? 'us' : 'other',
    marked: note !== undefined || isOwnedBy(secret, owner),
    content,
    findable: content !== 'none' && secret.metadata.labels?.[labels.clusterName] === cluster,
    rewritable: secret.type === clusterSecretType && secret.immutable !== true,
    target: targetIn(kubeconfig),
    memory,
  };
};
