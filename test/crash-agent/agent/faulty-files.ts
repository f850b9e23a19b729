import { readFileSync } from 'node:fs';
import promises, { type FileHandle } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { type Alias, recordText } from './effect-names.ts';
import { die, type FaultWatch } from './fault-watch.ts';

/** The verbs in names of effects. */
const verbs = {
  chmod: 'chmod',
  mkdir: 'make folder',
  rm: 'remove',
  rmdir: 'remove folder',
  truncate: 'truncate',
  unlink: 'unlink',
  writeFile: 'write',
} as const;

/**
 * Makes an effect of every change of a file below `folder`: replaces node:fs/promises for the whole agent. This process runs nothing else.
 */
export const injectFileFaults = async (folder: string, watch: FaultWatch, alias: Alias): Promise<void> => {
  const isOurs = (path: unknown): path is string => typeof path === 'string' && path.startsWith(`${folder}/`);
  const effect = async <T>(name: string, change: () => Promise<T>): Promise<T> => {
    const mode = watch.record(alias(name));
    const result = await change();
    return mode === undefined ? result : die();
  };

  const replaced: Record<string, unknown> = {};
  for (const [name, verb] of Object.entries(verbs)) {
    const original = promises[name as keyof typeof verbs] as (...args: unknown[]) => Promise<unknown>;
    replaced[name] = (...args: unknown[]) =>
      isOurs(args[0]) ? effect(`${verb} ${args[0]}`, () => original(...args)) : original(...args);
  }

  const { open, rename } = promises;
  replaced['rename'] = (from: string, to: string) => {
    const content = to.endsWith('.json') ? recordText(readFileSync(from, 'utf8')) : '';
    return effect(`${content === '' ? 'rename' : 'record'} ${to}${content}`, () => rename(from, to));
  };
  const paths = new WeakMap<FileHandle, string>();
  replaced['open'] = async (...args: Parameters<typeof open>) => {
    const [path, flags = 'r'] = args;
    const isForWriting = typeof flags === 'number' ? (flags & 3) !== 0 : flags !== 'r';
    if (!isOurs(path) || !isForWriting) return open(...args);
    const handle = await effect(`open ${path}`, () => open(...args));
    paths.set(handle, path);
    return handle;
  };
  Object.assign(promises, replaced);
  syncBuiltinESMExports();

  const probe = await open('/dev/null');
  const prototype = Object.getPrototypeOf(probe) as Record<string, (...args: unknown[]) => Promise<unknown>>;
  await probe.close();
  for (const name of ['appendFile', 'write', 'writeFile']) {
    const original = prototype[name];
    if (original === undefined) throw new Error(`A FileHandle has no ${name}`);
    prototype[name] = function written(this: FileHandle, ...args: unknown[]) {
      const path = paths.get(this);
      const write = () => original.apply(this, args);
      return path === undefined ? write() : effect(`write ${path}`, write);
    };
  }
};
