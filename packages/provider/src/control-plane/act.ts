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
  ignoreStale,
  isKubeError,
  type Live,
  patchIfUnchanged,
  secrets,
  withOwnerReference,
} from '@tartan/kube';
import type { SecretObject } from '../controller-deps.ts';
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
 * Writes a kubeconfig with a new token. Returns when that token expires; undefined: the Secret has changed meanwhile, so reconcile again.
 * Guarantees: only the version of the Secret that was read is overwritten. After a crash in between, an unused token is left that expires;
 * the next pass mints another one.
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
  // It may grant less than requested. If it seems to grant more, its clock is ahead of ours.
  const expiresAt = Math.min(granted, mintedAt + lifeMs);
  const kubeconfig = renderKubeconfig(plan.target, minted.token);
  // The base64 form that is sent, in which the token looks different.
  redactor.add(Buffer.from(kubeconfig).toString('base64'));
  const tokenMetadata = formatTokenMetadata({ mintedAt, expiresAt, account: plan.account }, kubeconfig);
  try {
    await writeSecret(writer.client, plan.how, subject, { kubeconfig, tokenMetadata }, signal);
    return expiresAt;
  } catch (error) {
    if (isKubeError(error, 'conflict', 'alreadyExists', 'notFound')) return undefined;
    throw error;
  }
};

/**
 * Removes our owner reference and annotation from a Secret, because the garbage collector would otherwise delete a kubeconfig that is not
 * ours together with our object. Undefined: the Secret has changed meanwhile, so reconcile again.
 */
export const disownSecret = async (
  { client }: KubeconfigDeps,
  { controlPlane, secret }: KubeconfigContext,
  signal: AbortSignal,
): Promise<object | undefined> => {
  if (secret === undefined) return undefined;
  const ownerReferences = secret.metadata.ownerReferences?.filter(({ uid }) => uid !== controlPlane.metadata.uid) ?? [];
  // A patch, so that the request does not contain the secret data of another owner.
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
  // The type of a Secret cannot change, nor can the data of an immutable one.
  if (secret !== undefined) await deleteIfUnchanged(client, secrets, secret, { signal });
  await client.create(secrets, wanted, { signal });
};

interface SecretContent {
  kubeconfig: string;
  tokenMetadata: string;
}

const kubeconfigSecret = (
  { controlPlane, cluster }: KubeconfigContext,
  { kubeconfig, tokenMetadata }: SecretContent,
) => ({
  apiVersion: 'v1' as const,
  kind: 'Secret' as const,
  metadata: {
    name: secretNames.kubeconfig(cluster),
    namespace: controlPlane.metadata.namespace ?? '',
    labels: { [labels.clusterName]: cluster },
    annotations: { [annotations.kubeconfigToken]: tokenMetadata },
    ownerReferences: [controllerReference(controlPlane, externalControlPlane.resource)],
  },
  type: clusterSecretType,
  data: { [secretKeys.kubeconfig]: Buffer.from(kubeconfig).toString('base64') },
});

/** Keeps the metadata of others; the data is ours alone. */
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
