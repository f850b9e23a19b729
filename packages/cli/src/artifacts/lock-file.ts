import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { parseDocument } from 'yaml';
import { z } from 'zod';
import { type ChecksumKind, sha256Checksum, sha256Hex } from './checksum.ts';

/** `image/artifacts.lock`: the software for Macs in the image, with versions and checksums. */

const entrySchema = z.strictObject({
  name: z.string().regex(/^[a-z][a-z0-9_-]*$/),
  version: z.string().regex(/^\d[\w.+-]*$/),
  url: z.string(),
  /** Of the download. */
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/, 'a SHA-256 checksum has 64 digits of 0-9 and a-f')
    .optional(),
  /** Of the download, in the form of npm. */
  integrity: z
    .string()
    .regex(/^sha512-[A-Za-z0-9+/]{86}==$/, 'an npm integrity is sha512- and 88 characters of base64')
    .optional(),
  /** The macOS release of the Homebrew build. */
  bottle: z.string().optional(),
  /** The path of the file in the folder. */
  file: z.string().regex(/^[\w-]+(?:\/[\w-][\w.-]*)+$/),
  /** Members of the archive that become the file. Undefined: the file is the archive. */
  take: z.array(z.string()).min(1).optional(),
  /** A file that an unchanged archive must contain. */
  holds: z.string().optional(),
});

const lockSchema = z.strictObject({ artifacts: z.array(entrySchema) });

type LockEntry = z.infer<typeof entrySchema>;

export const parseLock = (text: string, file: string): readonly Artifact[] => {
  const document = parseDocument(text);
  const [broken] = document.errors;
  if (broken !== undefined) throw new Error(`${file} is not YAML: ${broken.message}`);
  const parsed = lockSchema.safeParse(document.toJS());
  if (!parsed.success) throw new Error(`${file} is not a lock file: ${z.prettifyError(parsed.error)}`);
  const { artifacts } = parsed.data;
  for (const key of ['name', 'file'] as const) {
    const [twice] = artifacts.map((each) => each[key]).filter((each, at, all) => all.indexOf(each) !== at);
    if (twice !== undefined) throw new Error(`${file} has the ${key} ${twice} twice.`);
  }
  return artifacts.map(artifactOf);
};

const artifactOf = ({ url, sha256, integrity, take, ...entry }: LockEntry) => {
  // Packages of npm have the integrity of package-lock.json.
  const hasIntegrity = integrity !== undefined || (sha256 === undefined && /\/-\/[^/]+\.tgz$/.test(url));
  const checksumKind: ChecksumKind = hasIntegrity ? 'integrity' : 'sha256';
  return {
    ...entry,
    /** May contain `{version}` and `{sha256}`. */
    urlTemplate: url,
    /** `sha256 HEX` or `sha512-BASE64`. */
    checksum: sha256 === undefined ? integrity : sha256Checksum(sha256),
    checksumKind,
    take: take?.map((each) => each.replaceAll('{version}', entry.version)),
  };
};

export type Artifact = Readonly<ReturnType<typeof artifactOf>>;

/** The URL of the download. Blobs of a registry are addressed by their checksum. */
export const urlOf = ({ urlTemplate, version, checksum }: Artifact): string =>
  urlTemplate.replaceAll('{version}', version).replaceAll('{sha256}', sha256Hex(checksum ?? '') ?? '');

/** The lock file with another version and checksum of one artifact. Keeps formatting and comments. */
export const withChecksum = (text: string, name: string, version: string, checksum: string | undefined): string => {
  const document = parseDocument(text);
  const { artifacts } = lockSchema.parse(document.toJS());
  const at = artifacts.findIndex((each) => each.name === name);
  document.setIn(['artifacts', at, 'version'], version);
  const hex = sha256Hex(checksum ?? '');
  if (checksum === undefined) for (const key of ['sha256', 'integrity']) document.deleteIn(['artifacts', at, key]);
  else document.setIn(['artifacts', at, hex === undefined ? 'integrity' : 'sha256'], hex ?? checksum);
  return document.toString({ lineWidth: 0, flowCollectionPadding: false });
};

/** In a URL: the configured registry of npm. */
const npmPlaceholder = '{npm}';

type Env = Readonly<Record<string, string | undefined>>;

/** Replaces the placeholder in URLs. Runs npm only if needed. */
export const withNpmRegistry = async (artifacts: readonly Artifact[], env: Env): Promise<readonly Artifact[]> => {
  if (!artifacts.some(({ urlTemplate }) => urlTemplate.includes(npmPlaceholder))) return artifacts;
  const registry = (env['npm_config_registry'] ?? (await readNpmRegistry())).trim().replace(/\/+$/, '');
  return artifacts.map((artifact) => ({
    ...artifact,
    urlTemplate: artifact.urlTemplate.replaceAll(npmPlaceholder, () => registry),
  }));
};

const readNpmRegistry = async (): Promise<string> => {
  try {
    return (await promisify(execFile)('npm', ['config', 'get', 'registry'])).stdout;
  } catch (cause) {
    throw new Error('npm config get registry failed. Install npm, or set npm_config_registry.', { cause });
  }
};
