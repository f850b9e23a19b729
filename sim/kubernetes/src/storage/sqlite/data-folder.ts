import type { DatabaseSync } from 'node:sqlite';
import { ApiError, serviceUnavailable } from '../../errors/api-error.ts';
import { memoryStorage } from '../memory.ts';
import type { Change, Journal, Storage } from '../storage.ts';
import { openDatabase, problemOf, toDataError } from './database.ts';
import { type KeyValues, sqliteJournal, sqliteKeyValues } from './journal.ts';

/** What a server stores in a folder. */
export interface DataFolder {
  storage: Storage;
  /** A few small values, such as the keys of the cluster. */
  keyValues: KeyValues;
  /** Releases the folder. Later writes are refused. */
  close(): void;
}

export interface DataOptions {
  /** How many changes are kept for watches that resume. */
  history?: number;
  /** Called once when writes begin to fail, and again only after one has succeeded. */
  report?: (error: unknown) => void;
}

/** The error for a client whose write could not be stored. */
const writeFailure = (folder: string, error: unknown): ApiError => {
  const why = error instanceof Error ? error.message : String(error);
  const what =
    problemOf(error) === 'full'
      ? `the disk that holds ${folder} is full (${why}); reads go on, and writes will once there is space again`
      : `${folder} cannot be written to: ${why}; look at the disk and restart the server`;
  return new ApiError(500, 'InternalError', `Internal error occurred: nothing was written: ${what}`, {
    causes: [{ message: what }],
  });
};

/** Converts SQLite error codes to messages. */
const guarded = (
  journal: Journal,
  folder: string,
  isOpen: () => boolean,
  report: (error: unknown) => void,
): Journal => {
  let failing = false;
  const write = (change: Change): void => {
    if (!isOpen()) throw serviceUnavailable('the server has been stopped');
    try {
      journal.write(change);
      failing = false;
    } catch (error) {
      const refusal = writeFailure(folder, error);
      if (!failing) report(refusal);
      failing = true;
      throw refusal;
    }
  };
  return { ...journal, write };
};

/** Opens the data in `folder`, or starts a new one. Rejects with a DataError that says what is wrong and what to do. */
export const openData = async (folder: string, options: DataOptions = {}): Promise<DataFolder> =>
  readData(await openDatabase(folder), folder, options);

export const readData = (
  database: DatabaseSync,
  folder: string,
  { history, report = () => {} }: DataOptions = {},
): DataFolder => {
  try {
    const journal = guarded(sqliteJournal(database), folder, () => database.isOpen, report);
    return {
      storage: memoryStorage(history, journal),
      keyValues: sqliteKeyValues(database),
      close: () => {
        if (database.isOpen) database.close();
      },
    };
  } catch (error) {
    database.close();
    throw toDataError(folder, error);
  }
};
