import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { parseDocument } from 'yaml';
import { z } from 'zod';
import type { Checksum } from './checksum.ts';

/** `image/artifacts.lock`: which software for Macs the image carries, and how to know that it is what it should be. */

const entrySchema = z.strictObject({
  name: z.string().regex(/^[a-z][a-z0-9_-]*$/),
  version: z.string().regex(/^\d[\w.+-]*$/),
  url: z.string(),
  /** Of what is downloaded. */
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/, 'a SHA-256 sum has 64 digits of 0-9 and a-f')
    .optional(),
  /** The same, as npm writes it. */
  integrity: z
    .string()
    .regex(/^sha512-[A-Za-z0-9+/]{86}==$/, "npm's integrity is sha512- and 88 characters of base64")
    .optional(),
  /** Homebrew builds for several releases of macOS: for which one. */
  bottle: z.string().optional(),
  /** Where it goes, from the folder that is fetched into. Never up and out of it. */
  file: z.string().regex(/^[\w-]+(?:\/[\w-][\w.-]*)+$/),
  /** Members of the archive that become the file; without it, the file is the archive as it came. */
  take: z.array(z.string()).min(1).optional(),
  /** What an archive that stays as it came must hold. */
  holds: z.string().optional(),
});

const lockSchema = z.strictObject({ artifacts: z.array(entrySchema) });

type LockEntry = z.infer<typeof entrySchema>;

export interface Artifact {
  readonly name: string;
  readonly version: string;
  /** As written: `{version}` and `{sha256}` stand for those. */
  readonly urlTemplate: string;
  readonly checksum: Checksum | undefined;
  readonly checksumKind: 'sha256' | 'integrity';
  readonly bottle: string | undefined;
  readonly file: string;
  readonly take: readonly string[] | undefined;
  readonly holds: string | undefined;
}

/** Rejects text that is no lock file with what is wrong and where. */
export const parseLock = (text: string, file: string): readonly Artifact[] => {
  const document = parseDocument(text);
  const [broken] = document.errors;
  if (broken !== undefined) throw new Error(`${file} is not YAML: ${broken.message}`);
  const parsed = lockSchema.safeParse(document.toJS());
  if (!parsed.success) throw new Error(`${file} is no lock of artifacts: ${z.prettifyError(parsed.error)}`);
  const { artifacts } = parsed.data;
  for (const key of ['name', 'file'] as const) {
    const [twice] = artifacts.map((each) => each[key]).filter((each, at, all) => all.indexOf(each) !== at);
    if (twice !== undefined) throw new Error(`${file} has the ${key} ${twice} twice.`);
  }
  return artifacts.map(artifactOf);
};

const artifactOf = (written: LockEntry): Artifact => {
  const { name, version, url, sha256, integrity, bottle, file, take, holds } = written;
  return {
    name,
    version,
    urlTemplate: url,
    checksum: sha256 === undefined ? (integrity === undefined ? undefined : { integrity }) : { sha256 },
    // What npm serves has npm's sums: the same that package-lock.json has.
    checksumKind:
      integrity !== undefined || (sha256 === undefined && /\/-\/[^/]+\.tgz$/.test(url)) ? 'integrity' : 'sha256',
    bottle,
    file,
    take: take?.map((each) => each.replaceAll('{version}', version)),
    holds,
  };
};

/** Where it is downloaded from. Blobs of a registry are named by their sum, so there is no address without one. */
export const urlOf = ({ urlTemplate, version, checksum }: Artifact): string =>
  urlTemplate
    .replaceAll('{version}', version)
    .replaceAll('{sha256}', () => (checksum !== undefined && 'sha256' in checksum ? checksum.sha256 : ''));

/** The lock file with another version and sum of one artifact, or with none until it is found. Everything else stays as somebody wrote it, comments too. */
export const withChecksum = (text: string, name: string, version: string, sum: Checksum | undefined): string => {
  const document = parseDocument(text);
  const { artifacts } = lockSchema.parse(document.toJS());
  const at = artifacts.findIndex((each) => each.name === name);
  document.setIn(['artifacts', at, 'version'], version);
  if (sum === undefined) for (const key of ['sha256', 'integrity']) document.deleteIn(['artifacts', at, key]);
  else if ('sha256' in sum) document.setIn(['artifacts', at, 'sha256'], sum.sha256);
  else document.setIn(['artifacts', at, 'integrity'], sum.integrity);
  return document.toString({ lineWidth: 0, flowCollectionPadding: false });
};

/** In an address: the registry that npm is set up with, so that whoever has a mirror uses it here too. */
const npmPlaceholder = '{npm}';

type Env = Readonly<Record<string, string | undefined>>;

/** The artifacts with addresses that are whole. npm is asked only if one needs it. */
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
    throw new Error('npm cannot be asked for its registry. Install npm, or set npm_config_registry.', { cause });
  }
};
