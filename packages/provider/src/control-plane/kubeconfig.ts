import { createHash } from 'node:crypto';
import { parseYaml } from '@tartan/kube';
import { timestamp } from '@tartan/kube/clock';
import { z } from 'zod';
import { type ClusterAddress, kubeconfigWith } from '../identity/join-kubeconfig.ts';

/** Address and CA of the API server. */
export type Target = Required<ClusterAddress>;

/** No exec plugins: core supports none. */
export const renderKubeconfig = (target: Target, token: string): string =>
  kubeconfigWith({ ...target, token, user: 'core', context: 'core' });

const kubeconfigSchema = z.object({
  clusters: z.tuple([
    z.object({ cluster: z.object({ server: z.string(), 'certificate-authority-data': z.string() }) }),
  ]),
});

/** The target of a kubeconfig that we wrote; undefined for any other text. */
export const parseTarget = (kubeconfig: string): Target | undefined => {
  try {
    const { cluster } = kubeconfigSchema.parse(JSON.parse(kubeconfig)).clusters[0];
    return { server: cluster.server, caData: cluster['certificate-authority-data'] };
  } catch {
    return undefined;
  }
};

/** Metadata of the token in a kubeconfig, stored in an annotation next to it. */
export interface TokenMetadata {
  mintedAt: number;
  expiresAt: number;
  /** UID of the ServiceAccount: tokens of a deleted one are invalid, even if another one has its name. */
  account: string;
}

const time = z.iso.datetime({ offset: true });
const tokenMetadataSchema = z.object({ minted: time, expires: time, account: z.string().min(1), digest: z.string() });

const digestOf = (kubeconfig: string): string => createHash('sha256').update(kubeconfig).digest('hex');

export const formatTokenMetadata = ({ mintedAt, expiresAt, account }: TokenMetadata, kubeconfig: string): string =>
  JSON.stringify({
    minted: timestamp(mintedAt),
    expires: timestamp(expiresAt),
    account,
    digest: digestOf(kubeconfig),
  });

/** Undefined when the digest is not that of this kubeconfig: one of the two was changed without the other. */
export const parseTokenMetadata = (annotation: string | undefined, kubeconfig: string): TokenMetadata | undefined => {
  try {
    const { minted, expires, account, digest } = tokenMetadataSchema.parse(JSON.parse(annotation ?? ''));
    if (digest !== digestOf(kubeconfig)) return undefined;
    return { mintedAt: Date.parse(minted), expiresAt: Date.parse(expires), account };
  } catch {
    return undefined;
  }
};

/** Who wrote the kubeconfig in a Secret. `none`: the text is not a kubeconfig, and core cannot use it. */
type KubeconfigOwner = 'ours' | 'theirs' | 'none';

/** Ours if the annotation matches it, or if only we can have written it and the annotation was removed. */
export const ownerOfKubeconfig = async (
  kubeconfig: string,
  tokenMetadata: TokenMetadata | undefined,
): Promise<KubeconfigOwner> => {
  if (tokenMetadata !== undefined || isMinted(kubeconfig)) return 'ours';
  return (await isKubeconfig(kubeconfig)) ? 'theirs' : 'none';
};

const mintedSchema = z.object({
  users: z.tuple([z.object({ name: z.literal('core'), user: z.object({ token: z.string() }) })]),
  'current-context': z.literal('core'),
});

/**
 * A kubeconfig in our form, with a token that expires. If it counted as provided by a user, it would not be renewed, and core could not
 * connect once it expires. Kubeconfigs that users store have tokens that do not expire.
 */
const isMinted = (kubeconfig: string): boolean => {
  try {
    const [{ user }] = mintedSchema.parse(JSON.parse(kubeconfig)).users;
    const claims: unknown = JSON.parse(Buffer.from(user.token.split('.')[1] ?? '', 'base64url').toString());
    return z.object({ exp: z.number() }).safeParse(claims).success;
  } catch {
    return false;
  }
};

const usableSchema = z.object({
  clusters: z.array(z.object({ cluster: z.object({ server: z.string().min(1) }) })).min(1),
  'current-context': z.string().min(1),
});

const isKubeconfig = async (text: string): Promise<boolean> => {
  try {
    return usableSchema.safeParse(await parseYaml('', text)).success;
  } catch {
    return false;
  }
};
