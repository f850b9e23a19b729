import { closeSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import type * as Sqlite from 'node:sqlite';
import type { DatabaseSync } from 'node:sqlite';

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
export const corruptionError = (what: string): Error => Object.assign(new Error(what), { errcode: 11 });

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
export const toDataError = (folder: string, error: unknown): DataError => {
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

/**
 * `node:sqlite`, without the warning that Node 24 prints for it: the person at the terminal can do nothing about it. Loaded only by
 * those who keep data.
 */
const loadSqlite = async (): Promise<typeof Sqlite> => {
  const { emitWarning } = process;
  const isAboutSqlite = (warning: string | Error): boolean => /sqlite/i.test(String(warning));
  process.emitWarning = (warning: string | Error, ...rest: unknown[]): void => {
    if (!isAboutSqlite(warning)) Reflect.apply(emitWarning, process, [warning, ...rest]);
  };
  try {
    return await import('node:sqlite');
  } finally {
    process.emitWarning = emitWarning;
  }
};

/** `TART`: by this SQLite files say whose they are. */
const applicationId = 0x54415254;

/** Raised when an older release could no longer read what this one writes. */
const dataFormat = 1;

const fileName = 'kubernetes.sqlite';

const numberIn = (database: DatabaseSync, pragma: string): number =>
  Number(database.prepare(`PRAGMA ${pragma}`).get()?.[pragma]);

const isEmpty = (database: DatabaseSync): boolean =>
  database.prepare('SELECT count(*) AS tables FROM sqlite_schema').get()?.['tables'] === 0;

/** Looks before anything is written, so that what is not ours stays as it is. */
const assertOurs = (database: DatabaseSync, folder: string): void => {
  if (numberIn(database, 'application_id') !== applicationId) {
    if (isEmpty(database)) return;
    throw new DataError(
      'foreign',
      `${join(folder, fileName)} was not written by the embedded Kubernetes, so it was left alone. Choose another folder.`,
    );
  }
  const format = numberIn(database, 'user_version');
  if (format > dataFormat) {
    throw new DataError(
      'newerFormat',
      `The data in ${folder} has format ${format}, but this release knows formats up to ${dataFormat}. Nothing was changed. Use the release that wrote it, or a newer one, or choose another folder.`,
    );
  }
};

/** Of a file whose pages contradict each other, whatever is read may be wrong. */
const assertIntact = (database: DatabaseSync): void => {
  const verdict = database.prepare('PRAGMA quick_check(1)').get()?.['quick_check'];
  if (verdict !== 'ok') throw corruptionError(String(verdict));
};

/**
 * Keys are in it, so it is for its owner's eyes, whatever the folder allows. Only a file that is not there is touched: to open and
 * close one that this process holds would let go of it.
 */
const makeFile = (path: string): void => {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
};

const tables = `
  CREATE TABLE IF NOT EXISTS versions (
    revision INTEGER PRIMARY KEY, key TEXT NOT NULL, object TEXT, checksum INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL, checksum INTEGER NOT NULL) STRICT;
`;

/**
 * The database in `folder`, made if it is not there, and held so that no other process can open it. A process that dies lets go.
 *
 * Guarantees: every statement that has returned survives the death of this process (WAL, synchronous=NORMAL). A power cut may take
 * the last of them, but never leaves half of one. To survive that too costs an fsync per write; see docs/decisions/2026-11-16-data-in-one-sqlite-file.md.
 */
export const openDatabase = async (folder: string): Promise<DatabaseSync> => {
  const { DatabaseSync } = await loadSqlite();
  let database: DatabaseSync | undefined;
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    makeFile(join(folder, fileName));
    database = new DatabaseSync(join(folder, fileName));
    database.exec('PRAGMA locking_mode = EXCLUSIVE');
    assertOurs(database, folder);
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; BEGIN IMMEDIATE');
    assertIntact(database);
    database.exec(`${tables}; PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${dataFormat}; COMMIT`);
    return database;
  } catch (error) {
    database?.close();
    throw toDataError(folder, error);
  }
};
