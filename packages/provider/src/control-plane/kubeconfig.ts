import { createHash } from 'node:crypto';
import { parseYaml } from '@tartan/kube';
import { timestamp } from '@tartan/kube/clock';
import { z } from 'zod';
import { type ClusterAddress, kubeconfigWith } from '../identity/join-kubeconfig.ts';

/** Where the API server is, and by what authority it is known. */
export type Target = Required<ClusterAddress>;

/** No plugins: core takes none. */
export const renderKubeconfig = (target: Target, token: string): string =>
  kubeconfigWith({ ...target, token, user: 'core', context: 'core' });

const kubeconfigSchema = z.object({
  clusters: z.tuple([
    z.object({ cluster: z.object({ server: z.string(), 'certificate-authority-data': z.string() }) }),
  ]),
});

/** The target of a kubeconfig that we wrote; undefined for anything else. */
export const parseTarget = (kubeconfig: string): Target | undefined => {
  try {
    const { cluster } = kubeconfigSchema.parse(JSON.parse(kubeconfig)).clusters[0];
    return { server: cluster.server, caData: cluster['certificate-authority-data'] };
  } catch {
    return undefined;
  }
};

/** What is known of the token in a kubeconfig, kept as an annotation next to it. */
export interface TokenMetadata {
  mintedAt: number;
  expiresAt: number;
  /** The UID of the ServiceAccount: the tokens of one that was deleted are worth nothing, though another has its name. */
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

/** Undefined when it does not speak of this very kubeconfig: whoever changed one of the two did not change the other. */
export const parseTokenMetadata = (annotation: string | undefined, kubeconfig: string): TokenMetadata | undefined => {
  try {
    const { minted, expires, account, digest } = tokenMetadataSchema.parse(JSON.parse(annotation ?? ''));
    if (digest !== digestOf(kubeconfig)) return undefined;
    return { mintedAt: Date.parse(minted), expiresAt: Date.parse(expires), account };
  } catch {
    return undefined;
  }
};

/** Whose kubeconfig a Secret holds. A text that is no kubeconfig is none: core can do nothing with it. */
type KubeconfigOwner = 'ours' | 'theirs' | 'none';

/** Ours is one that the memory beside it speaks of; or one that can only be ours, though somebody took its memory away. */
export const ownerOfKubeconfig = async (
  kubeconfig: string,
  memory: TokenMetadata | undefined,
): Promise<KubeconfigOwner> => {
  if (memory !== undefined || isMinted(kubeconfig)) return 'ours';
  return (await isKubeconfig(kubeconfig)) ? 'theirs' : 'none';
};

const mintedSchema = z.object({
  users: z.tuple([z.object({ name: z.literal('core'), user: z.object({ token: z.string() }) })]),
  'current-context': z.literal('core'),
});

/**
 * As we write them, with a token that expires. Taken for somebody else's, it would be left alone until it does, and core would be blind.
 * Whoever stores a kubeconfig uses a token that does not.
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
