import type { Clock } from '@tartan/kube/clock';
import type { Facts } from '../storage/sqlite/journal.ts';
import { generateIdentityKeys } from './identity-keys.ts';
import type { IdentityKeys } from './identity.ts';

const fact = 'identity-keys';

/** The keys of the cluster whose data this is; a new one gets its own. */
export const keptIdentityKeys = async (facts: Facts, clock: Clock): Promise<IdentityKeys> => {
  const kept = facts.get(fact);
  if (kept !== undefined) return JSON.parse(kept) as IdentityKeys;
  const keys = await generateIdentityKeys(clock);
  facts.set(fact, JSON.stringify(keys));
  return keys;
};
