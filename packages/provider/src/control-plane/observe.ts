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
  type EventRecorder,
  getControllerOf,
  ignoreNotFound,
  isOwnedBy,
  type Live,
  type Logger,
  type ObjectName,
  type Redactor,
  secrets,
  serviceAccounts,
  services,
  type Subresources,
} from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import type { SecretObject } from '../controller-deps.ts';
import type { Snapshot } from './decide.ts';
import { ownerOfKubeconfig, parseTarget, parseTokenMetadata, type Target } from './kubeconfig.ts';

/** The dependencies of maintaining a kubeconfig. */
export interface KubeconfigDeps {
  client: Pick<Client, 'get' | 'create' | 'update' | 'patch' | 'delete'>;
  clock: Pick<Clock, 'now'>;
  /** Returns the address of the API server inside of the cluster: see `serviceAddress`. */
  address: (options: CallOptions) => Promise<string>;
  /** PEM: the CA with which the provider itself verifies the API server. */
  ca: string;
  tokens: Pick<Subresources, 'createToken'>;
  /** That of the process' logs: every token is added. */
  redactor: Pick<Redactor, 'add' | 'text'>;
  events: Pick<EventRecorder, 'event'>;
  log: Logger;
  lifeMs: number;
  lookAgainMs: number;
}

interface Observation {
  snapshot: Snapshot;
  secret: Live<SecretObject> | undefined;
  /** Why the target is unknown. */
  problem?: unknown;
}

/** Live reads: a stale Secret would look as if it needed a new token. */
export const observe = async (
  { client, clock, address, ca, lifeMs, lookAgainMs }: KubeconfigDeps,
  controlPlane: Live<ExternalControlPlane>,
  cluster: string,
  signal: AbortSignal,
): Promise<Observation> => {
  const { namespace = '', uid } = controlPlane.metadata;
  const { serviceAccountName, server } = controlPlane.spec;
  const at = (name: string): ObjectName => ({ namespace, name });
  const secret = await ignoreNotFound(client.get(secrets, at(secretNames.kubeconfig(cluster)), { signal }));
  const account = await ignoreNotFound(client.get(serviceAccounts, at(serviceAccountName), { signal }));
  const found = await targetOf(() => (server ? Promise.resolve(server) : address({ signal })), ca);
  signal.throwIfAborted();
  return {
    secret,
    snapshot: {
      mode: controlPlane.spec.kubeconfig,
      secret: secret && (await secretFacts(secret, uid, cluster)),
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

export const secretFacts = async (secret: Live<SecretObject>, owner: string, cluster: string) => {
  const kubeconfig = Buffer.from(secret.data?.[secretKeys.kubeconfig] ?? '', 'base64').toString();
  const controller = getControllerOf(secret);
  const note = secret.metadata.annotations?.[annotations.kubeconfigToken];
  const tokenMetadata = parseTokenMetadata(note, kubeconfig);
  const kubeconfigOwner = await ownerOfKubeconfig(kubeconfig, tokenMetadata);
  const ownedBy: 'us' | 'other' | 'nobody' =
    controller === undefined ? 'nobody' : controller.uid === owner ? 'us' : 'other';
  return {
    /** Which controller owns it: this ExternalControlPlane, or another one. */
    controller: ownedBy,
    /** It has our owner reference or our annotation. */
    marked: note !== undefined || isOwnedBy(secret, owner),
    kubeconfigOwner,
    /** Core finds it by its metadata and type, and it holds a kubeconfig. */
    findable: kubeconfigOwner !== 'none' && secret.metadata.labels?.[labels.clusterName] === cluster,
    /** Its data is mutable and its type is correct. */
    rewritable: secret.type === clusterSecretType && secret.immutable !== true,
    /** Undefined: it holds no kubeconfig that we wrote. */
    target: parseTarget(kubeconfig),
    /** Undefined: there is no annotation, or it belongs to another kubeconfig. */
    tokenMetadata,
  };
};

/**
 * The address of the API server inside of the cluster: the cluster IP of the Service `kubernetes`. It outlives every node of the control
 * plane, is in the server's certificate, and needs neither proxy nor DNS. Needs: get of that Service.
 */
export const serviceAddress = async (client: Pick<Client, 'get'>, options: CallOptions = {}): Promise<string> => {
  const { spec } = await client.get(services, { namespace: 'default', name: 'kubernetes' }, options);
  const ip = spec?.clusterIP;
  if (!ip || ip === 'None')
    throw new Error('The Service default/kubernetes has no cluster IP. Set spec.server of the ExternalControlPlane.');
  const port = spec.ports?.find(({ name }) => name === 'https')?.port ?? 443;
  return `https://${ip.includes(':') ? `[${ip}]` : ip}:${port}`;
};
