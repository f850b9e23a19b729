/** A location in a configuration, for errors. `field` is empty for the file as a whole. */
export interface ConfigLocation {
  file: string;
  /** `users[2].user.tokenFile`. */
  field: string;
}

/** A member of the map at `location`. */
export const fieldOf = ({ file, field }: ConfigLocation, name: string): ConfigLocation => ({
  file,
  field: `${field}.${name}`,
});

/** The configuration is unusable. The message names file and field and says what to do; it never contains a secret. */
export class ConfigError extends Error {
  readonly file: string | undefined;
  constructor(location: ConfigLocation | undefined, text: string) {
    super([location?.file, location?.field, text].filter(Boolean).join(': '));
    this.name = 'ConfigError';
    this.file = location?.file;
  }
}

export type ReadFile = (path: string) => Promise<string>;

/** The content of a file, or undefined if it does not exist. Throws ConfigError at `location` for any other error. */
export const readIfExists = async (
  readFile: ReadFile,
  path: string,
  location: ConfigLocation,
): Promise<string | undefined> => {
  try {
    return await readFile(path);
  } catch (error) {
    const code = errnoOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new ConfigError(location, `cannot read ${path}: ${describeReadError(code)}`);
  }
};

export const readRequired = async (readFile: ReadFile, path: string, location: ConfigLocation): Promise<string> => {
  const text = await readIfExists(readFile, path, location);
  if (text === undefined) throw new ConfigError(location, `no such file: ${path}`);
  return text;
};

const describeReadError = (code: string | undefined): string => {
  if (code === 'EACCES' || code === 'EPERM')
    return 'permission denied. Let the user that this process runs as read it.';
  return code === 'EISDIR' ? 'it is a folder.' : (code ?? 'the read failed.');
};

/** Only the code: the message of an unknown error may contain anything. */
const errnoOf = (error: unknown): string | undefined => {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' && /^E[A-Z0-9]+$/.test(error.code) ? error.code : undefined;
};

const maxFileBytes = 10 * 1024 * 1024;

/**
 * The YAML parser's messages quote the document, which contains tokens: only its code and the line are passed on. The parser
 * is imported on demand: an in-cluster process needs none, and JSON is parsed without it.
 */
export const parseYaml = async (file: string, text: string): Promise<unknown> => {
  const whole: ConfigLocation = { file, field: '' };
  if (text.length > maxFileBytes) throw new ConfigError(whole, 'is larger than 10 MiB, which no kubeconfig is.');
  if (text.trimStart().startsWith('{')) {
    try {
      return JSON.parse(text);
    } catch {
      // Not JSON after all: the YAML parser below decides.
    }
  }
  const { LineCounter, parseDocument } = await import('yaml');
  try {
    const lineCounter = new LineCounter();
    const document = parseDocument(text, { prettyErrors: false, lineCounter, logLevel: 'error' });
    const [error] = document.errors;
    if (error !== undefined) {
      const { line } = lineCounter.linePos(error.pos[0]);
      throw new ConfigError(
        whole,
        `is not YAML: line ${line}: ${error.code}. Compare it with a file that kubectl wrote.`,
      );
    }
    return document.toJS();
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throw new ConfigError(whole, 'is not YAML that can be read: nested too deeply, or with too many aliases.');
  }
};

export const checkNamespace = (location: ConfigLocation, namespace: string): string => {
  if (namespace.length <= 63 && /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/.test(namespace)) return namespace;
  throw new ConfigError(location, 'is not the name of a namespace: lower-case letters, digits and dashes, at most 63.');
};
