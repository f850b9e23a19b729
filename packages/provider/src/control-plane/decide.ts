import type { Target, TokenMetadata } from './kubeconfig.ts';
import type { secretFacts } from './observe.ts';

export interface Snapshot {
  /** Who writes the kubeconfig: this controller (`Minted`), or a user (`Provided`). */
  mode: 'Minted' | 'Provided';
  /** `<cluster>-kubeconfig`; undefined: it does not exist. */
  secret: SecretFacts | undefined;
  /** UID of the ServiceAccount; undefined: it does not exist. */
  account: string | undefined;
  /** What the kubeconfig must point to; undefined: unknown. */
  target: Target | undefined;
  now: number;
  /** Requested lifetime of a token. */
  lifeMs: number;
  /** The longest requeue: nothing triggers when the ServiceAccount or the address changes. */
  lookAgainMs: number;
}

export type SecretFacts = Readonly<Awaited<ReturnType<typeof secretFacts>>>;

export type Staleness = 'missing' | 'damaged' | 'unowned' | 'otherTarget' | 'otherAccount' | 'implausible' | 'due';
/** Whether core can connect now. */
interface Connectivity {
  connects: boolean;
}

export type Decision = Connectivity &
  (
    | { kind: 'skip' }
    /** A user has provided the kubeconfig, as configured: remove our marks from the Secret, and touch nothing else. */
    | { kind: 'disown' }
    | { kind: 'blocked'; reason: 'noAccount' | 'noTarget' }
    | { kind: 'write'; how: 'create' | 'update' | 'replace'; reason: Staleness; account: string; target: Target }
    | { kind: 'keep'; expiresAt: number; forMs: number }
  );

/** Clock skew, and timestamps in whole seconds. */
const slackMs = 60_000;
/** If the server's clock is far behind ours, its tokens look old at once: at most one token a minute then. */
const shortestLifeMs = 60_000;

/** Renews after two thirds of the lifetime. The rest is for a server that mints no tokens for a while. */
const dueAt = ({ mintedAt, expiresAt }: TokenMetadata): number =>
  mintedAt + Math.max(shortestLifeMs, ((expiresAt - mintedAt) * 2) / 3);

/** Otherwise we cannot have written these times: they were edited, or a clock was set back. They are not relied on. */
const isPlausible = ({ mintedAt, expiresAt }: TokenMetadata, now: number, lifeMs: number): boolean =>
  mintedAt <= now + slackMs && expiresAt - mintedAt <= lifeMs + slackMs;

const stalenessOf = (
  { secret, now, lifeMs }: Snapshot,
  account: string,
  { server, caData }: Target,
): Staleness | undefined => {
  if (secret === undefined) return 'missing';
  const { controller, target, tokenMetadata, findable, rewritable } = secret;
  if (!findable || !rewritable || target === undefined || tokenMetadata === undefined) return 'damaged';
  if (controller !== 'us') return 'unowned';
  if (target.server !== server || target.caData !== caData) return 'otherTarget';
  if (tokenMetadata.account !== account) return 'otherAccount';
  if (!isPlausible(tokenMetadata, now, lifeMs)) return 'implausible';
  return now < dueAt(tokenMetadata) ? undefined : 'due';
};

const connects = ({ secret, now }: Snapshot): boolean => {
  if (secret === undefined || !secret.findable) return false;
  const { controller, kubeconfigOwner, tokenMetadata } = secret;
  return (
    controller === 'other' ||
    kubeconfigOwner === 'theirs' ||
    (tokenMetadata !== undefined && now < tokenMetadata.expiresAt)
  );
};

/**
 * What happens to the kubeconfig. A Secret that another controller owns is left alone. Any other is ours, unless a user is to provide the
 * kubeconfig and has. Until then we keep ours fresh, and afterwards we take the Secret back. So core can connect throughout a switch, a
 * late sync or a rollback.
 */
export const decide = (snapshot: Snapshot): Decision => {
  const { mode, secret, account, target, now, lookAgainMs } = snapshot;
  const connectivity: Connectivity = { connects: connects(snapshot) };
  if (secret?.controller === 'other') return { ...connectivity, kind: 'skip' };
  if (mode === 'Provided' && secret?.kubeconfigOwner === 'theirs')
    return { ...connectivity, kind: secret.marked ? 'disown' : 'skip' };
  // Without its ServiceAccount a token is invalid, whatever its times say.
  if (account === undefined) return { connects: false, kind: 'blocked', reason: 'noAccount' };
  if (target === undefined) return { ...connectivity, kind: 'blocked', reason: 'noTarget' };
  const reason = stalenessOf(snapshot, account, target);
  if (secret?.tokenMetadata && reason === undefined) {
    const forMs = Math.min(dueAt(secret.tokenMetadata) - now, lookAgainMs);
    return { ...connectivity, kind: 'keep', expiresAt: secret.tokenMetadata.expiresAt, forMs };
  }
  const how = secret === undefined ? 'create' : secret.rewritable ? 'update' : 'replace';
  return { ...connectivity, kind: 'write', how, reason: reason ?? 'damaged', account, target };
};
