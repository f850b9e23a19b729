import { type Client, isKubeError, secrets } from '@tartan/kube';
import type { Pod } from '../pods/snapshot.ts';
import type { ImageReference } from './reference.ts';
import { type FoundCredentials, type PullSecret, registryCredentials } from './registry-credentials.ts';

export type PullCredentials = (pod: Pod, image: ImageReference, signal: AbortSignal) => Promise<FoundCredentials>;

/**
 * What the Pod's `imagePullSecrets` hold for an image, as the server has them now. One that is not there is a problem and no error, as
 * for a kubelet: the image may be public, or one of the others may do. Rejects with a KubeError when the server does not answer.
 */
export const createPullCredentials =
  (client: Client): PullCredentials =>
  async ({ metadata, spec }, image, signal) => {
    const namespace = metadata?.namespace ?? 'default';
    const names = [...new Set((spec?.imagePullSecrets ?? []).map(({ name }) => name ?? ''))];
    const read = async (name: string): Promise<PullSecret | string> => {
      try {
        const { data, type } = await client.get(secrets, { namespace, name }, { signal });
        return { name, data, type };
      } catch (error) {
        if (!isKubeError(error, 'notFound')) throw error;
        return `Secret ${name} of imagePullSecrets is not there; make it, or take it out of the Pod and its ServiceAccount`;
      }
    };
    const found = await Promise.all(names.filter((name) => name !== '').map(read));
    const { credentials, problems } = registryCredentials(
      found.filter((secret) => typeof secret !== 'string'),
      image,
    );
    return { credentials, problems: [...found.filter((secret) => typeof secret === 'string'), ...problems] };
  };
