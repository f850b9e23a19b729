import { secretKeys } from '@tartan/api';
import { type CallOptions, type Client, createSecret, isKubeError, type Secret, secrets } from '@tartan/kube';

export type TailscaleKey =
  | {
      readonly kind: 'known';
      readonly key: Secret;
      /** Another one whenever the Secret was written: says nothing about the key, and a new key is pushed. */
      readonly version: string;
    }
  /** Its reason on the machine is TailscaleAuthKeyUnavailable. */
  | { readonly kind: 'problem'; readonly message: string };

/**
 * Reads what Macs join the tailnet with, uncached: somebody else writes it. A Mac without its key would leave the tailnet, or never get
 * there, so that a missing one is said and nothing is pushed. Rejects with KubeError for what another try may mend.
 */
export const readTailscaleKey = async (
  client: Pick<Client, 'get'>,
  where: { readonly namespace: string; readonly name: string },
  options: CallOptions = {},
): Promise<TailscaleKey> => {
  const { authKey } = secretKeys.tailscale;
  const advice = `Put the auth key, or the secret of an OAuth client, into its key ${authKey}.`;
  try {
    const secret = await client.get(secrets, where, options);
    const key = Buffer.from(secret.data?.[authKey] ?? '', 'base64')
      .toString()
      .trim();
    if (key === '')
      return {
        kind: 'problem',
        message: `The Secret ${where.namespace}/${where.name} holds no Tailscale key. ${advice}`,
      };
    return { kind: 'known', key: createSecret(key), version: secret.metadata.resourceVersion };
  } catch (error) {
    if (!isKubeError(error, 'notFound')) throw error;
    return {
      kind: 'problem',
      message: `There is no Secret ${where.namespace}/${where.name} with a Tailscale key. ${advice}`,
    };
  }
};
