/** Why a data folder cannot be used. Each has its own words, and its own way out. */
export type DataProblem = 'inUse' | 'newerFormat' | 'foreign' | 'damaged' | 'full' | 'unusable';

/** What stands in the way of a data folder: what, why, and what to do. Nothing in the folder has been changed or removed. */
export class DataError extends Error {
  readonly problem: DataProblem;
  constructor(problem: DataProblem, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'DataError';
    this.problem = problem;
  }
}

// Primary result codes of SQLite: https://sqlite.org/rescode.html
const problems: Readonly<Record<number, DataProblem>> = {
  5: 'inUse', // BUSY
  6: 'inUse', // LOCKED
  11: 'damaged', // CORRUPT
  13: 'full', // FULL
  26: 'damaged', // NOTADB
};

const systemProblems: Readonly<Record<string, DataProblem>> = { ENOSPC: 'full', EDQUOT: 'full' };

/** What we find out ourselves, in the form in which SQLite says it. */
export const damage = (what: string): Error => Object.assign(new Error(what), { errcode: 11 });

const fieldOf = (error: unknown, name: string): unknown =>
  typeof error === 'object' && error !== null ? Reflect.get(error, name) : undefined;

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

export const problemOf = (error: unknown): DataProblem => {
  if (error instanceof DataError) return error.problem;
  const code = fieldOf(error, 'errcode');
  // The low byte is the kind of error, the rest says more about it.
  if (typeof code === 'number') return problems[code & 0xff] ?? 'unusable';
  return systemProblems[String(fieldOf(error, 'code'))] ?? 'unusable';
};

/** The sentence for whoever starts a server on `folder`. */
export const explain = (folder: string, error: unknown): DataError => {
  if (error instanceof DataError) return error;
  const problem = problemOf(error);
  const why = textOf(error);
  const sentences: Readonly<Record<DataProblem, string>> = {
    inUse: `The data folder ${folder} is in use by another process, and two cannot write to it. Stop the other one, or choose another folder.`,
    newerFormat: why,
    foreign: why,
    damaged: `The data in ${folder} cannot be read: ${why}. Nothing was changed. Put a copy from a backup in its place, or move the folder away to start with an empty one.`,
    full: `The disk that holds ${folder} is full (${why}). Nothing was lost. Free some space and start again.`,
    unusable: `The data folder ${folder} cannot be used: ${why}. Look at its rights, or choose another folder.`,
  };
  return new DataError(problem, sentences[problem], error);
};
