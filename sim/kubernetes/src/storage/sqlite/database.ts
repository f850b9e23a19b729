import { closeSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import type * as Sqlite from 'node:sqlite';
import type { DatabaseSync } from 'node:sqlite';

/** Why a data folder cannot be used. Each has its own message and remedy. */
export type DataProblem = 'inUse' | 'newerFormat' | 'foreign' | 'damaged' | 'full' | 'unusable';

/** A data folder cannot be used: what, why, and what to do. Nothing in the folder was changed. */
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

/** Corruption that this code detects, as a SQLite error. */
export const corruptionError = (what: string): Error => Object.assign(new Error(what), { errcode: 11 });

const fieldOf = (error: unknown, name: string): unknown =>
  typeof error === 'object' && error !== null ? Reflect.get(error, name) : undefined;

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

export const problemOf = (error: unknown): DataProblem => {
  if (error instanceof DataError) return error.problem;
  const code = fieldOf(error, 'errcode');
  // The low byte is the primary code, the rest are details.
  if (typeof code === 'number') return problems[code & 0xff] ?? 'unusable';
  return systemProblems[String(fieldOf(error, 'code'))] ?? 'unusable';
};

/** The message for the user who starts a server on `folder`. */
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

/** `node:sqlite`, without the warning of Node 24, about which the user can do nothing. Loaded only when data is stored. */
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

/** `TART`: identifies the owner of a SQLite file. */
const applicationId = 0x54415254;

/** Raise it when older releases can no longer read the data. */
const dataFormat = 1;

const fileName = 'kubernetes.sqlite';

const numberIn = (database: DatabaseSync, pragma: string): number =>
  Number(database.prepare(`PRAGMA ${pragma}`).get()?.[pragma]);

const isEmpty = (database: DatabaseSync): boolean =>
  database.prepare('SELECT count(*) AS tables FROM sqlite_schema').get()?.['tables'] === 0;

/** Checks before any write, so that a foreign file stays unchanged. */
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

/** In a corrupt file any value may be wrong. */
const assertIntact = (database: DatabaseSync): void => {
  const verdict = database.prepare('PRAGMA quick_check(1)').get()?.['quick_check'];
  if (verdict !== 'ok') throw corruptionError(String(verdict));
};

/**
 * The file contains keys, so only its owner may read it, whatever the folder allows. Only creates a missing file: opening and closing a
 * file that this process has locked would release the lock.
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
 * Opens or creates the database in `folder`, and locks it against other processes. The lock ends with the process.
 * Guarantees: every statement that has returned survives a crash of this process (WAL, synchronous=NORMAL). A power cut may lose the last
 * ones, but never leaves half of one. To survive that too costs an fsync per write; see
 * docs/decisions/2026-11-16-data-in-one-sqlite-file.md.
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
