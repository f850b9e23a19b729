import { createHash } from 'node:crypto';
import { timestamp } from '@tartan/kube/clock';
import { z } from 'zod';

/** What is known of the token in a kubeconfig, kept as an annotation next to it. */
export interface TokenMemory {
  mintedAt: number;
  expiresAt: number;
  /** The UID of the ServiceAccount: the tokens of one that was deleted are worth nothing, though another has its name. */
  account: string;
}

const time = z.iso.datetime({ offset: true });
const shape = z.object({ minted: time, expires: time, account: z.string().min(1), digest: z.string() });

const digestOf = (kubeconfig: string): string => createHash('sha256').update(kubeconfig).digest('hex');

export const writeMemory = ({ mintedAt, expiresAt, account }: TokenMemory, kubeconfig: string): string =>
  JSON.stringify({
    minted: timestamp(mintedAt),
    expires: timestamp(expiresAt),
    account,
    digest: digestOf(kubeconfig),
  });

/** Undefined when it does not speak of this very kubeconfig: whoever changed one of the two did not change the other. */
export const readMemory = (annotation: string | undefined, kubeconfig: string): TokenMemory | undefined => {
  try {
    const { minted, expires, account, digest } = shape.parse(JSON.parse(annotation ?? ''));
    if (digest !== digestOf(kubeconfig)) return undefined;
    return { mintedAt: Date.parse(minted), expiresAt: Date.parse(expires), account };
  } catch {
    return undefined;
  }
};
