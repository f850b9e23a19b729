import { readFile, rename, writeFile } from 'node:fs/promises';
import { systemClock as clock } from '@tartan/kube/clock';
import type { Shell } from '../shell.ts';
import { fetchArtifact, withoutSum } from './fetch.ts';
import { type Artifact, parseLock, withSum } from './lock-file.ts';
import { withNpmRegistry } from './npm-registry.ts';
import { progressOn } from './progress.ts';
import { withProxies } from './proxies.ts';
import { complaintAboutFile } from './record.ts';
import { resolveSum } from './resolve.ts';
import { isSame, sumText } from './sum.ts';

type Around = Pick<Shell, 'stdout' | 'stderr' | 'env' | 'signal'>;

interface Chosen {
  readonly lock: string;
  readonly names: readonly string[];
}

const stopped = 130;

export const fetchAll = async (chosen: Chosen & { folder: string }, around: Around): Promise<number> => {
  const artifacts = await withNpmRegistry(await choose(chosen), around.env);
  const fetchOne = async (artifact: Artifact): Promise<string> => {
    const { onProgress, clear } = progressOn(around.stdout, `${artifact.name} ${artifact.version}`);
    try {
      const fetched = await fetchArtifact(artifact, chosen.folder, { clock, signal: around.signal, onProgress });
      return `${artifact.file}: ${artifact.name} ${artifact.version}${fetched ? '' : ', as before'}`;
    } finally {
      clear();
    }
  };
  return withProxies(around.env, () => overAll(artifacts, around, fetchOne));
};

export const verifyAll = async (chosen: Chosen & { folder: string }, around: Around): Promise<number> =>
  overAll(await choose(chosen), around, async (artifact) => {
    if (artifact.sum === undefined) throw new Error(withoutSum(artifact));
    const complaint = await complaintAboutFile(chosen.folder, artifact);
    if (complaint !== undefined) throw new Error(`${complaint}. Run tartan artifacts fetch ${artifact.name}.`);
    return `${artifact.file}: ${artifact.name} ${artifact.version}`;
  });

export const lockAll = async ({ lock, names }: Chosen, around: Around): Promise<number> => {
  const wanted = new Map(names.map((name) => parseName(name)));
  const artifacts = await withNpmRegistry(await choose({ lock, names: [...wanted.keys()] }), around.env);
  const open = names.length > 0 ? artifacts : artifacts.filter(({ sum }) => sum === undefined);
  if (open.length === 0) around.stdout.write('Every artifact has its sum.\n');
  const lockOne = async (artifact: Artifact): Promise<string> => {
    const asked = wanted.get(artifact.name);
    // Members of archives have versions in their names: the lock is read anew with the one that is asked for.
    const next = asked === undefined ? artifact : await withVersion(lock, artifact.name, asked, around.env);
    const { onProgress, clear } = progressOn(around.stdout, `${next.name} ${next.version}`);
    try {
      const sum = await resolveSum(next, { clock, signal: around.signal, onProgress });
      if (next.version === artifact.version && artifact.sum !== undefined && !isSame(artifact.sum, sum))
        throw new Error(
          `${next.version} has ${sumText(sum)} now, and the lock says ${sumText(artifact.sum)}. Releases do not change: find out why. To take it all the same, remove the sum from the lock.`,
        );
      await replace(lock, withSum(await readFile(lock, 'utf8'), next.name, next.version, sum));
      return `${next.name} ${next.version}: ${sumText(sum)}`;
    } finally {
      clear();
    }
  };
  return withProxies(around.env, () => overAll(open, around, lockOne));
};

const parseName = (text: string): [name: string, version: string | undefined] => {
  const [name = '', version] = text.split('@');
  return [name, version];
};

const choose = async ({ lock, names }: Chosen): Promise<readonly Artifact[]> => {
  const all = parseLock(await readFile(lock, 'utf8'), lock);
  const unknown = names.find((name) => !all.some((each) => each.name === name));
  if (unknown !== undefined)
    throw new Error(`${lock} names no ${unknown}. It names ${all.map(({ name }) => name).join(', ')}.`);
  return names.length === 0 ? all : all.filter(({ name }) => names.includes(name));
};

const withVersion = async (lock: string, name: string, version: string, env: Around['env']): Promise<Artifact> => {
  const text = withSum(await readFile(lock, 'utf8'), name, version, undefined);
  const [found] = await withNpmRegistry(
    parseLock(text, lock).filter((each) => each.name === name),
    env,
  );
  if (found === undefined) throw new Error(`${lock} names no ${name}.`);
  return found;
};

const replace = async (file: string, text: string): Promise<void> => {
  const next = `${file}.${process.pid}`;
  await writeFile(next, text);
  await rename(next, file);
};

/** One that fails does not keep the others from being tried. */
const overAll = async (
  artifacts: readonly Artifact[],
  { stdout, stderr, signal }: Around,
  each: (artifact: Artifact) => Promise<string>,
): Promise<number> => {
  let failed = 0;
  for (const artifact of artifacts) {
    if (signal.aborted) return stopped;
    try {
      stdout.write(`${await each(artifact)}\n`);
    } catch (error) {
      failed += 1;
      stderr.write(`${artifact.name}: ${error instanceof Error ? error.message : String(error)}\n`);
    }
  }
  return signal.aborted ? stopped : failed === 0 ? 0 : 1;
};
