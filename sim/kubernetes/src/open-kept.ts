import type { Clock } from '@tartan/kube/clock';
import type { IdentityKeys } from './auth/identity.ts';
import { keptIdentityKeys } from './auth/kept-identity-keys.ts';
import { explain } from './storage/sqlite/data-error.ts';
import { type Data, openData } from './storage/sqlite/data.ts';

export interface Kept extends Data {
  keys: IdentityKeys;
}

/** All that a server needs to go on as the one it was. Whatever fails, the folder is free again. */
export const openKept = async (folder: string, clock: Clock, report: (error: unknown) => void): Promise<Kept> => {
  const data = await openData(folder, { report });
  try {
    return { ...data, keys: await keptIdentityKeys(data.facts, clock) };
  } catch (error) {
    data.close();
    throw explain(folder, error);
  }
};
