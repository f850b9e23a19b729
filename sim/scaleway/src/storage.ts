import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ScalewayState } from './scaleway.ts';

/** The version of the file format. */
const format = 1;

type Shape = Readonly<Record<string, 'string' | 'number' | 'boolean' | 'object'>>;

const keyShape: Shape = { id: 'string', name: 'string', publicKey: 'string', projectID: 'string', createdAt: 'number' };
const serverShape: Shape = {
  id: 'string',
  zone: 'string',
  name: 'string',
  type: 'string',
  status: 'string',
  ip: 'string',
  projectID: 'string',
  password: 'string',
  installs: 'number',
  createdAt: 'number',
  updatedAt: 'number',
  delivered: 'boolean',
  os: 'object',
};
const imageShape: Shape = { id: 'string', name: 'string', family: 'string', version: 'string', serverTypes: 'object' };
const rebootShape: Shape = { since: 'number', before: 'string' };
const reinstallShape: Shape = { since: 'number', outcome: 'string', image: 'object' };

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;

const check = (what: string, value: unknown, shape: Shape): void => {
  for (const [name, type] of Object.entries(shape)) {
    const field = fieldOf(value, name);
    if (field === null || typeof field !== type) throw new Error(`${what} has no ${name}`);
  }
};

const list = (value: unknown, name: string): unknown[] => {
  const found = fieldOf(value, name);
  if (!Array.isArray(found)) throw new Error(`it has no list of ${name}`);
  return found;
};

const checkServer = (value: unknown, index: number): void => {
  const what = `server ${index + 1}`;
  check(what, value, serverShape);
  check(`the image of ${what}`, fieldOf(value, 'os'), imageShape);
  const work = fieldOf(value, 'underWay');
  if (work === undefined) return;
  const kind = fieldOf(work, 'kind');
  if (kind !== 'reboot' && kind !== 'reinstall') throw new Error(`what is under way with ${what} is unknown`);
  check(`the ${kind} of ${what}`, work, kind === 'reboot' ? rebootShape : reinstallShape);
  if (kind === 'reinstall') check(`the image for ${what}`, fieldOf(work, 'image'), imageShape);
};

/** Undefined if it is no JSON. Drops the parser's error, which may quote passwords of the file. */
const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** Parses a text of `formatState`. Throws with the reason if it is invalid. */
export const parseState = (text: string): ScalewayState => {
  const value = parse(text);
  if (value === undefined) throw new Error('it is no JSON');
  const said = fieldOf(value, 'format');
  if (said !== format) throw new Error(`its format is ${String(said)}, and this version knows ${format} only`);
  list(value, 'servers').forEach(checkServer);
  list(value, 'keys').forEach((each, index) => check(`key ${index + 1}`, each, keyShape));
  return value as ScalewayState;
};

export const formatState = ({ servers, keys }: ScalewayState): string =>
  `${JSON.stringify({ format, servers, keys }, undefined, 1)}\n`;

/** The folder with Scaleway's state. */
interface Storage {
  /** The last saved state; undefined in a new folder. */
  readonly state: ScalewayState | undefined;
  /** Saved when it returns. A process that is killed before leaves the previous copy. */
  save(copy: ScalewayState): void;
}

const isMissing = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ENOENT';

const readState = (file: string): ScalewayState | undefined => {
  try {
    return parseState(readFileSync(file, 'utf8'));
  } catch (error) {
    if (isMissing(error)) return undefined;
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(
      `The servers and keys that Scaleway kept in ${file} cannot be read: ${why}. Nothing was changed. Put a copy from a backup in its place, or move the file away to begin without servers and keys.`,
      { cause: error },
    );
  }
};

/** Opens the folder, which is created if missing. It holds passwords: only its owner can read the file. */
export const openStorage = (folder: string): Storage => {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'scaleway.json');
  return {
    state: readState(file),
    save: (copy) => {
      const fresh = `${file}.new`;
      // An existing file would keep its mode.
      rmSync(fresh, { force: true });
      writeFileSync(fresh, formatState(copy), { mode: 0o600 });
      renameSync(fresh, file);
    },
  };
};
