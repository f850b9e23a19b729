import { createHash } from 'node:crypto';
import { dirname } from 'node:path';

/** Test files that share a process, because starting one and loading common modules costs a second or two. */
export interface Batch {
  readonly name: string;
  readonly files: readonly string[];
  readonly seconds: number;
}

/** For files that are not in the table of slow files. */
const defaultSeconds = 0.4;

/** With fewer batches per worker, workers idle at the end; with more, the same modules are loaded more often. */
const batchesPerWorker = 6;

/** Less work is not worth a second process. */
const minBatchSeconds = 4;

const folderOf = (file: string): string => dirname(file).split('/').slice(0, 2).join('/');

const nameOf = (files: readonly string[]): string => {
  const [first = ''] = files;
  if (files.length === 1) return first;
  return `${[...new Set(files.map(folderOf))].join(', ')} (${files.length} files)`;
};

/** The same order for the same seed. */
const shuffled = (files: readonly string[], seed: number): readonly string[] => {
  const rank = (file: string): string => createHash('sha256').update(`${seed} ${file}`).digest('hex');
  return files
    .map((file) => ({ file, rank: rank(file) }))
    .sort((one, other) => (one.rank < other.rank ? -1 : 1))
    .map(({ file }) => file);
};

/**
 * Splits all files, in the order of their paths, into batches of about equal duration: neighbours load the same modules. The longest
 * batches come first, so that none runs alone at the end. With a seed the order is random, and batches consist of any files.
 */
export const createBatches = (
  files: readonly string[],
  slow: ReadonlyMap<string, number>,
  workers: number,
  seed?: number,
): readonly Batch[] => {
  const secondsOf = (file: string): number => slow.get(file) ?? defaultSeconds;
  const total = files.reduce((sum, file) => sum + secondsOf(file), 0);
  const aim = Math.max(minBatchSeconds, total / (workers * batchesPerWorker));
  const batches: Batch[] = [];
  const add = (members: readonly string[]): void => {
    const seconds = members.reduce((sum, file) => sum + secondsOf(file), 0);
    if (members.length > 0) batches.push({ name: nameOf(members), files: members, seconds });
  };
  let open: string[] = [];
  let taken = 0;
  for (const file of seed === undefined ? files.toSorted() : shuffled(files, seed)) {
    const seconds = secondsOf(file);
    if (seconds >= aim) {
      add([file]);
      continue;
    }
    if (taken + seconds > aim) {
      add(open);
      open = [];
      taken = 0;
    }
    open.push(file);
    taken += seconds;
  }
  add(open);
  return batches.toSorted((one, other) => other.seconds - one.seconds);
};
