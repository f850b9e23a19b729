import type { DatabaseSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import { isObject, type KubeObject } from '../../object.ts';
import { parseJson } from '../../serialization/json.ts';
import type { Change, Journal, Version } from '../storage.ts';
import { corruptionError } from './database.ts';

/**
 * One row per write, as in etcd: the state of a key from its revision on. A row is deleted when a later row of the same key is compacted
 * too, so the rest always contains the current state.
 */

const isKubeObject = (value: unknown): value is KubeObject => isObject(value) && isObject(value['metadata']);

/** SQLite detects inconsistent pages, but not a flipped bit in the data. */
const checksumOf = (...parts: readonly (string | number)[]): number => crc32(parts.join('\n'));

/** JSON.parse of current V8 misreads some keys with escapes: docs/decisions/2026-11-16-json-parse-misreads-some-keys.md. */
const parse = (text: string): unknown => (text.includes('\\') ? parseJson(text).value : JSON.parse(text));

const versionOf = (row: Record<string, unknown>): Version => {
  const { revision, key, object: text, checksum } = row;
  const at = Number(revision);
  if (checksumOf(at, String(key), String(text)) !== checksum)
    throw corruptionError(`revision ${at} fails its checksum`);
  if (text === null) return { revision: at, key: String(key), object: undefined };
  const object = typeof text === 'string' ? parse(text) : undefined;
  if (!isKubeObject(object)) throw corruptionError(`revision ${at} is no object`);
  return { revision: at, key: String(key), object };
};

export interface KeyValues {
  get(name: string): string | undefined;
  set(name: string, value: string): void;
}

/**
 * Single values, by name. Reads and verifies all of them at once, from the table and not through its index: a value with a corrupt name
 * would look missing, and the caller would create a new one.
 */
export const sqliteKeyValues = (database: DatabaseSync): KeyValues => {
  const known = new Map<string, string>();
  for (const row of database.prepare('SELECT name, value, checksum FROM facts NOT INDEXED').iterate()) {
    const [name, value] = [String(row['name']), String(row['value'])];
    if (checksumOf(name, value) !== row['checksum']) throw corruptionError(`${name} fails its checksum`);
    known.set(name, value);
  }
  const write = database.prepare('INSERT OR REPLACE INTO facts (name, value, checksum) VALUES (?, ?, ?)');
  return {
    get: (name) => known.get(name),
    set: (name, value) => {
      write.run(name, value, checksumOf(name, value));
      known.set(name, value);
    },
  };
};

export const sqliteJournal = (database: DatabaseSync): Journal => {
  const facts = sqliteKeyValues(database);
  const all = database.prepare('SELECT revision, key, object, checksum FROM versions ORDER BY revision');
  const insert = database.prepare('INSERT INTO versions (revision, key, object, checksum) VALUES (?, ?, ?, ?)');
  const remove = database.prepare('DELETE FROM versions WHERE revision = ?');
  let forgotten: Change[] = [];

  return {
    past: {
      compacted: Number(facts.get('compacted') ?? 1),
      versions: {
        *[Symbol.iterator]() {
          for (const row of all.iterate()) yield versionOf(row);
        },
      },
    },
    write: ({ revision, key, object }) => {
      const text = object ? JSON.stringify(object) : null;
      insert.run(revision, key, text, checksumOf(revision, key, String(text)));
    },
    compact: (changes) => {
      forgotten = [...forgotten, ...changes];
      try {
        database.exec('BEGIN');
        for (const { revision, object, previous } of forgotten) {
          if (previous) remove.run(Number(previous.metadata.resourceVersion));
          if (!object) remove.run(revision);
        }
        facts.set('compacted', String(forgotten.at(-1)?.revision ?? 1));
        database.exec('COMMIT');
        forgotten = [];
      } catch {
        // For example on a full disk. The rows are deleted with the next ones.
        if (database.isTransaction) database.exec('ROLLBACK');
      }
    },
  };
};
