import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BuildError, type GoRun, go } from './go-command.ts';
import type { Recipe, SourceEdit } from './recipes.ts';

/** Where Go keeps the sources of what a recipe builds. They are fetched when they are not there. */
const sourceFolder = async ({ versionOf }: Recipe, run: GoRun): Promise<string> => {
  await go(['mod', 'download', versionOf], run);
  return (await go(['list', '-m', '-f', '{{.Dir}}', versionOf], run)).trim();
};

/** The text with one edit in it. A version of the sources that no longer has what is to be changed must not pass unnoticed. */
export const edited = (text: string, { file, from, to }: SourceEdit): string => {
  const found = text.split(from).length - 1;
  if (found !== 1)
    throw new BuildError(`${file} has "${from}" ${found} times, and it is expected once: see recipes.ts`);
  return text.replace(from, () => to);
};

/**
 * Arguments that let Go build with the edits of a recipe: of a copy of the module in `folder`, since Go lets nobody change those that it has
 * fetched.
 */
export const editedSources = async (recipe: Recipe, folder: string, run: GoRun): Promise<string[]> => {
  const { edits = [], versionOf } = recipe;
  if (edits.length === 0) return [];
  const copy = join(folder, 'sources');
  cpSync(await sourceFolder(recipe, run), copy, { recursive: true });
  for (const edit of edits) {
    const path = join(copy, edit.file);
    const text = edited(readFileSync(path, 'utf8'), edit);
    // Fetched sources are read-only, and so is their copy.
    rmSync(path);
    writeFileSync(path, text);
  }
  const modules = join(folder, 'go.mod');
  writeFileSync(modules, `${readFileSync(join(run.cwd, 'go.mod'), 'utf8')}\nreplace ${versionOf} => ${copy}\n`);
  cpSync(join(run.cwd, 'go.sum'), join(folder, 'go.sum'));
  return [`-modfile=${modules}`];
};

/** Puts what a recipe carries beside its binaries. */
export const copyCarried = async (recipe: Recipe, folder: string, run: GoRun): Promise<void> => {
  const { carries = {} } = recipe;
  if (Object.keys(carries).length === 0) return;
  const sources = await sourceFolder(recipe, run);
  for (const [from, to] of Object.entries(carries)) cpSync(join(sources, from), join(folder, to), { recursive: true });
};
