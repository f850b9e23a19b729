import { ConfigError, type Place } from './config-error.ts';

export type ReadFile = (path: string) => Promise<string>;

/** The text of a file, or undefined when there is none. Whatever else goes wrong is a ConfigError at `place`. */
export const readIfThere = async (readFile: ReadFile, path: string, place: Place): Promise<string | undefined> => {
  try {
    return await readFile(path);
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new ConfigError(place, `cannot read ${path}: ${why(code)}`);
  }
};

export const readExisting = async (readFile: ReadFile, path: string, place: Place): Promise<string> => {
  const text = await readIfThere(readFile, path, place);
  if (text === undefined) throw new ConfigError(place, `no such file: ${path}`);
  return text;
};

const why = (code: string | undefined): string => {
  if (code === 'EACCES' || code === 'EPERM')
    return 'permission denied. Let the user that this process runs as read it.';
  return code === 'EISDIR' ? 'it is a folder.' : (code ?? 'the read failed.');
};

/** The code alone: the text of an error of unknown origin may hold anything. */
const codeOf = (error: unknown): string | undefined => {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' && /^E[A-Z0-9]+$/.test(error.code) ? error.code : undefined;
};
