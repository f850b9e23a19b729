import {
  annotations,
  clusterSecretType,
  type ExternalControlPlane,
  externalControlPlane,
  labels,
  secretKeys,
  secretNames,
} from '@tartan/api';
import {
  controllerReference,
  deleteIfUnchanged,
  isKubeError,
  type Live,
  patchIfUnchanged,
  secrets,
  withOwnerReference,
} from '@tartan/kube';
import type { SecretObject } from '../controller-deps.ts';
import { ignoreStale } from '../ignore-stale.ts';
import type { Decision } from './decide.ts';
import { formatTokenMetadata, renderKubeconfig } from './kubeconfig.ts';
import type { KubeconfigDeps } from './observe.ts';

interface KubeconfigContext {
  controlPlane: Live<ExternalControlPlane>;
  cluster: string;
  /** As it was when the decision was made. */
  secret: Live<SecretObject> | undefined;
}

type WriteDecision = Extract<Decision, { kind: 'write' }>;

/**
 * Puts a kubeconfig with a new token in place. The answer is when that token expires; undefined: somebody has written the Secret
 * meanwhile, so look again.
 *
 * Guarantees: nothing is written over a Secret other than the one that was seen. A crash on the way leaves a token that nobody has
 * and that expires; the next pass mints another one.
 */
export const writeKubeconfig = async (
  writer: KubeconfigDeps,
  subject: KubeconfigContext,
  plan: WriteDecision,
  signal: AbortSignal,
): Promise<number | undefined> => {
  const { tokens, redactor, clock, lifeMs } = writer;
  const { namespace = '' } = subject.controlPlane.metadata;
  const account = { namespace, name: subject.controlPlane.spec.serviceAccountName };
  const mintedAt = clock.now();
  const minted = await tokens.createToken(account, { expirationSeconds: Math.floor(lifeMs / 1000) }, { signal });
  redactor.add(minted.token);
  const granted = Date.parse(minted.expirationTimestamp);
  if (Number.isNaN(granted)) throw new Error('The API server gave a token and did not say when it expires.');
  // It may grant less than was asked for. If it seems to grant more, its clock is ahead of ours.
  const expiresAt = Math.min(granted, mintedAt + lifeMs);
  const kubeconfig = renderKubeconfig(plan.target, minted.token);
  // As it is sent: the token looks different in there.
  redactor.add(Buffer.from(kubeconfig).toString('base64'));
  const memory = formatTokenMetadata({ mintedAt, expiresAt, account: plan.account }, kubeconfig);
  try {
    await writeSecret(writer.client, plan.how, subject, { kubeconfig, memory }, signal);
    return expiresAt;
  } catch (error) {
    if (isKubeError(error, 'conflict', 'alreadyExists', 'notFound')) return undefined;
    throw error;
  }
};

/**
 * Takes off a Secret what makes it ours. Undefined: somebody has written it meanwhile, so look again. The garbage collector would else
 * take the kubeconfig of somebody else with our object.
 */
export const disownSecret = async (
  { client }: KubeconfigDeps,
  { controlPlane, secret }: KubeconfigContext,
  signal: AbortSignal,
): Promise<object | undefined> => {
  if (secret === undefined) return undefined;
  const ownerReferences = secret.metadata.ownerReferences?.filter(({ uid }) => uid !== controlPlane.metadata.uid) ?? [];
  // A patch and not the whole: what somebody else keeps secret is not sent around.
  const metadata = { ownerReferences, annotations: { [annotations.kubeconfigToken]: null } };
  return ignoreStale(patchIfUnchanged(client, secrets, secret, { metadata }, { signal }));
};

const writeSecret = async (
  client: KubeconfigDeps['client'],
  how: WriteDecision['how'],
  subject: KubeconfigContext,
  content: SecretContent,
  signal: AbortSignal,
): Promise<void> => {
  const { secret } = subject;
  const wanted = kubeconfigSecret(subject, content);
  if (secret !== undefined && how === 'update') {
    await client.update(secrets, mergeIntoSecret(secret, wanted), { signal });
    return;
  }
  // A type never changes, and neither does the data of one that is immutable.
  if (secret !== undefined) await deleteIfUnchanged(client, secrets, secret, { signal });
  await client.create(secrets, wanted, { signal });
};

interface SecretContent {
  kubeconfig: string;
  memory: string;
}

const kubeconfigSecret = ({ controlPlane, cluster }: KubeconfigContext, { kubeconfig, memory }: SecretContent) => ({
  apiVersion: 'v1' as const,
  kind: 'Secret' as const,
  metadata: {
    name: secretNames.kubeconfig(cluster),
    namespace: controlPlane.metadata.namespace ?? '',
    labels: { [labels.clusterName]: cluster },
    annotations: { [annotations.kubeconfigToken]: memory },
    ownerReferences: [controllerReference(controlPlane, externalControlPlane.resource)],
  },
  type: clusterSecretType,
  data: { [secretKeys.kubeconfig]: Buffer.from(kubeconfig).toString('base64') },
});

/** What others wrote on it stays; its data is ours alone. */
const mergeIntoSecret = (
  secret: Live<SecretObject>,
  { metadata, data }: ReturnType<typeof kubeconfigSecret>,
): Live<SecretObject> => ({
  ...secret,
  metadata: {
    ...secret.metadata,
    labels: { ...secret.metadata.labels, ...metadata.labels },
    annotations: { ...secret.metadata.annotations, ...metadata.annotations },
    ownerReferences: metadata.ownerReferences.reduce(withOwnerReference, secret.metadata.ownerReferences ?? []),
  },
  data,
});
