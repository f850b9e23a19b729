import type { ScalewayCopy } from '../scaleway.ts';

/** The form in which copies are written now. */
const format = 1;

type Shape = Readonly<Record<string, 'string' | 'number' | 'boolean' | 'object'>>;

const key: Shape = { id: 'string', name: 'string', publicKey: 'string', projectID: 'string', createdAt: 'number' };
const server: Shape = {
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
const image: Shape = { id: 'string', name: 'string', family: 'string', version: 'string', serverTypes: 'object' };
const reboot: Shape = { since: 'number', before: 'string' };
const reinstall: Shape = { since: 'number', outcome: 'string', image: 'object' };

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
  check(what, value, server);
  check(`the image of ${what}`, fieldOf(value, 'os'), image);
  const work = fieldOf(value, 'underWay');
  if (work === undefined) return;
  const kind = fieldOf(work, 'kind');
  if (kind !== 'reboot' && kind !== 'reinstall') throw new Error(`what is under way with ${what} is unknown`);
  check(`the ${kind} of ${what}`, work, kind === 'reboot' ? reboot : reinstall);
  if (kind === 'reinstall') check(`the image for ${what}`, fieldOf(work, 'image'), image);
};

/** Nothing for what is no JSON, without what a parser quotes of it: copies hold passwords. */
const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** What a text holds that was written by `writeCopy`. Throws with the reason why it is none. */
export const readCopy = (text: string): ScalewayCopy => {
  const value = parse(text);
  if (value === undefined) throw new Error('it is no JSON');
  const said = fieldOf(value, 'format');
  if (said !== format) throw new Error(`its format is ${String(said)}, and this version knows ${format} only`);
  list(value, 'servers').forEach(checkServer);
  list(value, 'keys').forEach((each, index) => check(`key ${index + 1}`, each, key));
  return value as ScalewayCopy;
};

export const writeCopy = ({ servers, keys }: ScalewayCopy): string =>
  `${JSON.stringify({ format, servers, keys }, undefined, 1)}\n`;
