import { readFile, rename, writeFile } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { systemClock as clock } from '@tartan/kube/clock';
import { escapeControls, writeRaw } from '../output/terminal-text.ts';
import type { Shell } from '../shell.ts';
import { checksumText, sameChecksum } from './checksum.ts';
import { withProxies } from './download.ts';
import { fetchArtifact, mismatchOf, missingChecksumMessage } from './fetch.ts';
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
    const { onProgress, clear } = downloadProgress(context.stdout, `${artifact.name} ${artifact.version}`);
    try {
      const fetched = await fetchArtifact(artifact, selection.folder, { clock, signal: context.signal, onProgress });
      return `${artifact.file}: ${artifact.name} ${artifact.version}${fetched ? '' : ', as before'}`;
    } finally {
      clear();
    }
  };
  return withProxies(context.env, () => forEachArtifact(artifacts, context, fetchOne));
};

export const verifyAll = async (selection: Selection & { folder: string }, context: CommandContext): Promise<number> =>
  forEachArtifact(await selectArtifacts(selection), context, async (artifact) => {
    if (artifact.checksum === undefined) throw new Error(missingChecksumMessage(artifact));
    const complaint = await mismatchOf(selection.folder, artifact);
    if (complaint !== undefined) throw new Error(`${complaint}. Run tartan artifacts fetch ${artifact.name}.`);
    return `${artifact.file}: ${artifact.name} ${artifact.version}`;
  });

export const lockAll = async ({ lock, names }: Selection, context: CommandContext): Promise<number> => {
  const wanted = new Map(names.map((name) => parseName(name)));
  const artifacts = await withNpmRegistry(await selectArtifacts({ lock, names: [...wanted.keys()] }), context.env);
  const open = names.length > 0 ? artifacts : artifacts.filter(({ checksum }) => checksum === undefined);
  if (open.length === 0) context.stdout.write('Every artifact has its sum.\n');
  const lockOne = async (artifact: Artifact): Promise<string> => {
    const asked = wanted.get(artifact.name);
    // Members of archives have versions in their names: the lock is read anew with the one that is asked for.
    const next = asked === undefined ? artifact : await withVersion(lock, artifact.name, asked, context.env);
    const { onProgress, clear } = downloadProgress(context.stdout, `${next.name} ${next.version}`);
    try {
      const sum = await resolveChecksum(next, { clock, signal: context.signal, onProgress });
      if (next.version === artifact.version && artifact.checksum !== undefined && !sameChecksum(artifact.checksum, sum))
        throw new Error(
          `${next.version} has ${checksumText(sum)} now, and the lock says ${checksumText(artifact.checksum)}. Releases do not change: find out why. To take it all the same, remove the sum from the lock.`,
        );
      await replaceFile(lock, withChecksum(await readFile(lock, 'utf8'), next.name, next.version, sum));
      return `${next.name} ${next.version}: ${checksumText(sum)}`;
    } finally {
      clear();
    }
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
    throw new Error(`${lock} names no ${unknown}. It names ${all.map(({ name }) => name).join(', ')}.`);
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
  if (found === undefined) throw new Error(`${lock} names no ${name}.`);
  return found;
};

const replaceFile = async (file: string, text: string): Promise<void> => {
  const next = `${file}.${process.pid}`;
  await writeFile(next, text);
  await rename(next, file);
};

/** One that fails does not keep the others from being tried. */
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
      stderr.write(`${artifact.name}: ${error instanceof Error ? error.message : String(error)}\n`);
    }
  }
  return signal.aborted ? interruptedExitCode : failed === 0 ? 0 : 1;
};

/** A line that stays in its place on a terminal; elsewhere nothing is shown until something is done. */
export const downloadProgress = (stdout: Writable & { isTTY?: boolean }, what: string) => {
  let shown = '';
  const show = (text: string): void => {
    if (stdout.isTTY !== true || text === shown) return;
    shown = text;
    writeRaw(stdout, `\r\u001B[K${escapeControls(text)}`);
  };
  return {
    onProgress: (bytes: number, of: number | undefined): void =>
      show(`${what}: ${of ? `${Math.floor((100 * bytes) / of)} % of ${megabytes(of)}` : megabytes(bytes)}`),
    clear: (): void => {
      if (shown !== '') writeRaw(stdout, '\r\u001B[K');
    },
  };
};

const megabytes = (bytes: number): string => `${(bytes / 1_000_000).toFixed(bytes < 10_000_000 ? 1 : 0)} MB`;
