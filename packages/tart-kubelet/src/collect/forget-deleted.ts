import type { Holds } from '../images/holds.ts';
import type { ImageRecords } from '../images/image-records.ts';
import type { LocalImages } from '../images/local-images.ts';
import { parseReference } from '../images/reference.ts';

export interface DeletedImages {
  readonly records: Pick<ImageRecords, 'names' | 'forget'>;
  readonly local: Pick<LocalImages, 'has' | 'hasVm'>;
  readonly holds: Pick<Holds, 'names'>;
}

const isHere = (local: DeletedImages['local'], name: string): Promise<boolean> => {
  const { digest, repository } = parseReference(name) ?? {};
  return repository === undefined || digest === undefined ? local.hasVm(name) : local.has({ repository, digest });
};

/**
 * Forgets what the agent made and what is not here any more: it was cut between a deletion and its record, or somebody else deleted it.
 * Otherwise the same image that a person fetches later would count as ours (B5). What is held may be on its way back.
 */
export const forgetDeleted = async ({ holds, local, records }: DeletedImages): Promise<readonly string[]> => {
  const forgotten: string[] = [];
  for (const name of await records.names()) {
    if (holds.names().has(name) || (await isHere(local, name))) continue;
    await records.forget(name);
    forgotten.push(name);
  }
  return forgotten;
};
