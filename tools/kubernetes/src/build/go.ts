import { execFile } from 'node:child_process';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Recipe, SourceEdit } from './recipes.ts';

interface GoRun {
  cwd: string;
  env?: NodeJS.ProcessEnv;
}

/** A failure of the build that a user can fix. */
export class BuildError extends Error {
  override name = 'BuildError';
}

const linesShown = 40;

/** Runs `go` and returns its output. */
export const go = (args: readonly string[], { cwd, env = process.env }: GoRun): Promise<string> =>
  new Promise((resolve, reject) => {
    execFile('go', args, { cwd, env, maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else if ('code' in error && error.code === 'ENOENT') reject(noGo(error));
      else
        reject(
          new BuildError(`go ${args[0]} failed in ${cwd}; the end of its output:\n${tail(stderr)}`, { cause: error }),
        );
    });
  });

const tail = (text: string): string => text.trimEnd().split('\n').slice(-linesShown).join('\n');

const noGo = (cause: Error): BuildError =>
  new BuildError(
    'there is no "go" on the PATH, and the components of Kubernetes are built from their Go sources: install Go from https://go.dev/dl, ' +
      'or set KUBEBUILDER_ASSETS to a folder that holds the binaries',
    { cause },
  );

/** The folder of Go's sources for a recipe. Downloads them if needed. */
const sourceFolder = async ({ versionOf }: Recipe, run: GoRun): Promise<string> => {
  await go(['mod', 'download', versionOf], run);
  return (await go(['list', '-m', '-f', '{{.Dir}}', versionOf], run)).trim();
};

/** The text with one edit. Throws if a new version of the sources does not contain the text to change. */
export const applyEdit = (text: string, { file, from, to }: SourceEdit): string => {
  const found = text.split(from).length - 1;
  if (found !== 1)
    throw new BuildError(`${file} has "${from}" ${found} times, and it is expected once: see recipes.ts`);
  return text.replace(from, () => to);
};

/**
 * Arguments for Go to build with the edits of a recipe: in a copy of the module in `folder`, since Go's downloaded modules must not be
 * changed.
 */
export const prepareEditedSources = async (recipe: Recipe, folder: string, run: GoRun): Promise<string[]> => {
  const { edits = [], versionOf } = recipe;
  if (edits.length === 0) return [];
  const copy = join(folder, 'sources');
  cpSync(await sourceFolder(recipe, run), copy, { recursive: true });
  for (const edit of edits) {
    const path = join(copy, edit.file);
    const text = applyEdit(readFileSync(path, 'utf8'), edit);
    // Downloaded sources are read-only, and so is their copy.
    rmSync(path);
    writeFileSync(path, text);
  }
  const modules = join(folder, 'go.mod');
  writeFileSync(modules, `${readFileSync(join(run.cwd, 'go.mod'), 'utf8')}\nreplace ${versionOf} => ${copy}\n`);
  cpSync(join(run.cwd, 'go.sum'), join(folder, 'go.sum'));
  return [`-modfile=${modules}`];
};

/** Copies the extra folders of a recipe beside its binaries. */
export const copyExtraFolders = async (recipe: Recipe, folder: string, run: GoRun): Promise<void> => {
  const { extraFolders = {} } = recipe;
  if (Object.keys(extraFolders).length === 0) return;
  const sources = await sourceFolder(recipe, run);
  for (const [from, to] of Object.entries(extraFolders))
    cpSync(join(sources, from), join(folder, to), { recursive: true });
};
