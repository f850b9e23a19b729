import { readFile } from 'node:fs/promises';
import { errorMessage } from '@tartan/kube';
import { systemClock as clock } from '@tartan/kube/clock';
import { createStatusLine, megabytes } from '../output/terminal-text.ts';
import type { Shell } from '../shell.ts';
import { type DownloadOptions, withProxies } from './download.ts';
import { fetchArtifact, mismatchOf, missingChecksumMessage, replaceFile } from './fetch.ts';
import { type Artifact, parseLock, withChecksum, withNpmRegistry } from './lock-file.ts';
import { resolveChecksum } from './resolve-checksum.ts';

type CommandContext = Pick<Shell, 'stdout' | 'stderr' | 'env' | 'signal'>;

interface Selection {
  readonly lock: string;
  readonly names: readonly string[];
}

const interruptedExitCode = 130;

export const fetchAll = async (selection: Selection & { folder: string }, context: CommandContext): Promise<number> => {
  const artifacts = await withNpmRegistry(await selectArtifacts(selection), context.env);
  const fetchOne = async (artifact: Artifact): Promise<string> => {
    const fetched = await withProgress(artifact, context, (options) =>
      fetchArtifact(artifact, selection.folder, options),
    );
    return `${artifact.file}: ${artifact.name} ${artifact.version}${fetched ? '' : ', unchanged'}`;
  };
  return withProxies(context.env, () => forEachArtifact(artifacts, context, fetchOne));
};

export const verifyAll = async (selection: Selection & { folder: string }, context: CommandContext): Promise<number> =>
  forEachArtifact(await selectArtifacts(selection), context, async (artifact) => {
    if (artifact.checksum === undefined) throw new Error(missingChecksumMessage(artifact));
    const mismatch = await mismatchOf(selection.folder, artifact);
    if (mismatch !== undefined) throw new Error(`${mismatch}. Run tartan artifacts fetch ${artifact.name}.`);
    return `${artifact.file}: ${artifact.name} ${artifact.version}`;
  });

export const lockAll = async ({ lock, names }: Selection, context: CommandContext): Promise<number> => {
  const wanted = new Map(names.map((name) => parseName(name)));
  const artifacts = await withNpmRegistry(await selectArtifacts({ lock, names: [...wanted.keys()] }), context.env);
  const open = names.length > 0 ? artifacts : artifacts.filter(({ checksum }) => checksum === undefined);
  if (open.length === 0) context.stdout.write('Every artifact has a checksum.\n');
  const lockOne = async (artifact: Artifact): Promise<string> => {
    const version = wanted.get(artifact.name);
    // Names of members contain the version, so the lock file is parsed again with the new one.
    const next = version === undefined ? artifact : await withVersion(lock, artifact.name, version, context.env);
    const checksum = await withProgress(next, context, (options) => resolveChecksum(next, options));
    if (next.version === artifact.version && artifact.checksum !== undefined && artifact.checksum !== checksum)
      throw new Error(
        `${next.version} now has ${checksum}, and the lock file ${artifact.checksum}. Releases should not change: find out why. To accept it, remove the checksum from the lock file.`,
      );
    await replaceFile(lock, withChecksum(await readFile(lock, 'utf8'), next.name, next.version, checksum));
    return `${next.name} ${next.version}: ${checksum}`;
  };
  return withProxies(context.env, () => forEachArtifact(open, context, lockOne));
};

const parseName = (text: string): [name: string, version: string | undefined] => {
  const [name = '', version] = text.split('@');
  return [name, version];
};

const selectArtifacts = async ({ lock, names }: Selection): Promise<readonly Artifact[]> => {
  const all = parseLock(await readFile(lock, 'utf8'), lock);
  const unknown = names.find((name) => !all.some((each) => each.name === name));
  if (unknown !== undefined)
    throw new Error(`${lock} has no ${unknown}. It has ${all.map(({ name }) => name).join(', ')}.`);
  return names.length === 0 ? all : all.filter(({ name }) => names.includes(name));
};

const withVersion = async (
  lock: string,
  name: string,
  version: string,
  env: CommandContext['env'],
): Promise<Artifact> => {
  const text = withChecksum(await readFile(lock, 'utf8'), name, version, undefined);
  const [found] = await withNpmRegistry(
    parseLock(text, lock).filter((each) => each.name === name),
    env,
  );
  if (found === undefined) throw new Error(`${lock} has no ${name}.`);
  return found;
};

/** Continues after a failure. */
const forEachArtifact = async (
  artifacts: readonly Artifact[],
  { stdout, stderr, signal }: CommandContext,
  each: (artifact: Artifact) => Promise<string>,
): Promise<number> => {
  let failed = 0;
  for (const artifact of artifacts) {
    if (signal.aborted) return interruptedExitCode;
    try {
      stdout.write(`${await each(artifact)}\n`);
    } catch (error) {
      failed += 1;
      stderr.write(`${artifact.name}: ${errorMessage(error)}\n`);
    }
  }
  return signal.aborted ? interruptedExitCode : failed === 0 ? 0 : 1;
};

const withProgress = async <T>(
  { name, version }: Artifact,
  { stdout, signal }: CommandContext,
  work: (options: DownloadOptions) => Promise<T>,
): Promise<T> => {
  const status = createStatusLine(stdout);
  const onProgress: DownloadOptions['onProgress'] = (bytes, total) =>
    status.show(
      `${name} ${version}: ${total ? `${Math.floor((100 * bytes) / total)} % of ${megabytes(total)}` : megabytes(bytes)}`,
    );
  try {
    return await work({ clock, signal, onProgress });
  } finally {
    status.clear();
  }
};
