import { parseYaml } from '@tartan/kube';
import { z } from 'zod';
import type { TokenMemory } from './token-memory.ts';

/** Whose kubeconfig a Secret holds. A text that is no kubeconfig is none: core can do nothing with it. */
export type Content = 'ours' | 'theirs' | 'none';

/** Ours is one that the memory beside it speaks of; or one that can only be ours, though somebody took its memory away. */
export const whose = async (kubeconfig: string, memory: TokenMemory | undefined): Promise<Content> => {
  if (memory !== undefined || isMinted(kubeconfig)) return 'ours';
  return (await isKubeconfig(kubeconfig)) ? 'theirs' : 'none';
};

const minted = z.object({
  users: z.tuple([z.object({ name: z.literal('core'), user: z.object({ token: z.string() }) })]),
  'current-context': z.literal('core'),
});

/**
 * As we write them, with a token that expires. Taken for somebody else's, it would be left alone until it does, and core would be blind.
 * Whoever stores a kubeconfig uses a token that does not.
 */
const isMinted = (kubeconfig: string): boolean => {
  try {
    const [{ user }] = minted.parse(JSON.parse(kubeconfig)).users;
    const claims: unknown = JSON.parse(Buffer.from(user.token.split('.')[1] ?? '', 'base64url').toString());
    return z.object({ exp: z.number() }).safeParse(claims).success;
  } catch {
    return false;
  }
};

const usable = z.object({
  clusters: z.array(z.object({ cluster: z.object({ server: z.string().min(1) }) })).min(1),
  'current-context': z.string().min(1),
});

const isKubeconfig = async (text: string): Promise<boolean> => {
  try {
    return usable.safeParse(await parseYaml('', text)).success;
  } catch {
    return false;
  }
};
