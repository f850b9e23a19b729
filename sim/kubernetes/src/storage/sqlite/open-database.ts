import { closeSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { damage, DataError, explain } from './data-error.ts';
import { loadSqlite } from './load-sqlite.ts';

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
const assertSound = (database: DatabaseSync): void => {
  const verdict = database.prepare('PRAGMA quick_check(1)').get()?.['quick_check'];
  if (verdict !== 'ok') throw damage(String(verdict));
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
    assertSound(database);
    database.exec(`${tables}; PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${dataFormat}; COMMIT`);
    return database;
  } catch (error) {
    database?.close();
    throw explain(folder, error);
  }
};
