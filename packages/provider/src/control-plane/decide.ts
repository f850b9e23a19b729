import type { Target, TokenMetadata } from './kubeconfig.ts';
import type { secretFacts } from './observe.ts';

export interface Snapshot {
  /** Who is to write the kubeconfig: we, or somebody else. */
  mode: 'Minted' | 'Provided';
  /** `<cluster>-kubeconfig`; undefined: there is none. */
  secret: SecretFacts | undefined;
  /** UID of the ServiceAccount; undefined: there is none. */
  account: string | undefined;
  /** What the kubeconfig shall point to; undefined: nobody knows. */
  target: Target | undefined;
  now: number;
  /** How long a token is asked to live. */
  lifeMs: number;
  /** The longest time without a look: a new ServiceAccount or address tells nobody. */
  lookAgainMs: number;
}

export type SecretFacts = Readonly<Awaited<ReturnType<typeof secretFacts>>>;

export type Staleness = 'missing' | 'damaged' | 'unowned' | 'otherTarget' | 'otherAccount' | 'implausible' | 'due';
/** Whether core can connect as things are. */
interface Connectivity {
  connects: boolean;
}

export type Decision = Connectivity &
  (
    | { kind: 'leave' }
    /** Somebody else has written it, as they should: what is ours beside it goes, and nothing else is touched. */
    | { kind: 'disown' }
    | { kind: 'blocked'; because: 'noAccount' | 'noTarget' }
    | { kind: 'write'; how: 'create' | 'update' | 'replace'; because: Staleness; account: string; target: Target }
    | { kind: 'keep'; expiresAt: number; forMs: number }
  );

/** Clocks differ, and times are kept in whole seconds. */
const slackMs = 60_000;
/** A server whose clock is far behind ours gives tokens that look old at once: no more than one a minute then. */
const shortestLifeMs = 60_000;

/** A third of its life is left for a server that gives no tokens for a while. */
const dueAt = ({ mintedAt, expiresAt }: TokenMetadata): number =>
  mintedAt + Math.max(shortestLifeMs, ((expiresAt - mintedAt) * 2) / 3);

/** Times that we cannot have written: somebody edited them, or a clock was set back. What they promise is not relied on. */
const isPlausible = ({ mintedAt, expiresAt }: TokenMetadata, now: number, lifeMs: number): boolean =>
  mintedAt <= now + slackMs && expiresAt - mintedAt <= lifeMs + slackMs;

const stalenessOf = (
  { secret, now, lifeMs }: Snapshot,
  account: string,
  { server, caData }: Target,
): Staleness | undefined => {
  if (secret === undefined) return 'missing';
  const { controller, target, memory, findable, rewritable } = secret;
  if (!findable || !rewritable || target === undefined || memory === undefined) return 'damaged';
  if (controller !== 'us') return 'unowned';
  if (target.server !== server || target.caData !== caData) return 'otherTarget';
  if (memory.account !== account) return 'otherAccount';
  if (!isPlausible(memory, now, lifeMs)) return 'implausible';
  return now < dueAt(memory) ? undefined : 'due';
};

const connects = ({ secret, now }: Snapshot): boolean => {
  if (secret === undefined || !secret.findable) return false;
  const { controller, kubeconfigOwner, memory } = secret;
  return controller === 'other' || kubeconfigOwner === 'theirs' || (memory !== undefined && now < memory.expiresAt);
};

/**
 * What becomes of the kubeconfig. A Secret that another controller owns is its own. Any other is ours; unless somebody else is to provide
 * the kubeconfig and has. Until then ours is kept fresh, and it is taken back when that is over: whatever is switched, synced late or
 * rolled back in between, core can connect.
 */
export const decide = (snapshot: Snapshot): Decision => {
  const { mode, secret, account, target, now, lookAgainMs } = snapshot;
  const connectivity: Connectivity = { connects: connects(snapshot) };
  if (secret?.controller === 'other') return { ...connectivity, kind: 'leave' };
  if (mode === 'Provided' && secret?.kubeconfigOwner === 'theirs')
    return { ...connectivity, kind: secret.marked ? 'disown' : 'leave' };
  // Without its ServiceAccount a token is worth nothing, whatever its times say.
  if (account === undefined) return { connects: false, kind: 'blocked', because: 'noAccount' };
  if (target === undefined) return { ...connectivity, kind: 'blocked', because: 'noTarget' };
  const because = stalenessOf(snapshot, account, target);
  if (secret?.memory && because === undefined) {
    const forMs = Math.min(dueAt(secret.memory) - now, lookAgainMs);
    return { ...connectivity, kind: 'keep', expiresAt: secret.memory.expiresAt, forMs };
  }
  const how = secret === undefined ? 'create' : secret.rewritable ? 'update' : 'replace';
  return { ...connectivity, kind: 'write', how, because: because ?? 'damaged', account, target };
};
