import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@tartan/kube/clock';
import { cacheFolder, cacheKey, fillOnce } from './build/cache.ts';
import { copyExtraFolders, go, prepareEditedSources } from './build/go.ts';
import { type BinaryName, moduleFolder, readGoMod, type Recipe, recipeOf } from './build/recipes.ts';

export interface BuildOptions {
  env?: NodeJS.ProcessEnv;
  /** Called with what is built and how long it took. */
  log?: (line: string) => void;
}

/**
 * Paths of the named binaries. Uses those in the folder KUBEBUILDER_ASSETS; builds the others once with Go, and keeps them in the cache
 * folder. Building Kubernetes from scratch takes minutes.
 */
export const ensureBinaries = async <Name extends BinaryName>(
  names: readonly Name[],
  { env = process.env, log = logToStderr }: BuildOptions = {},
): Promise<{ [name in Name]: string }> => {
  const paths = new Map<Name, string>();
  for (const name of names) paths.set(name, givenBinary(name, env) ?? (await builtBinary(name, env, log)));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- one entry for each of the names
  return Object.fromEntries(paths) as { [name in Name]: string };
};

const logToStderr = (line: string): void => {
  process.stderr.write(`${line}\n`);
};

const givenBinary = (name: BinaryName, env: NodeJS.ProcessEnv): string | undefined => {
  const folder = env['KUBEBUILDER_ASSETS'];
  if (folder === undefined || folder === '') return undefined;
  const path = join(folder, name);
  return existsSync(path) ? path : undefined;
};

const builtBinary = async (name: BinaryName, env: NodeJS.ProcessEnv, log: (line: string) => void): Promise<string> => {
  const recipe = recipeOf(name);
  const folder = builtFolder(recipe, env);
  await fillOnce(folder, (temporary) => build(recipe, temporary, env, log));
  return join(folder, name);
};

/** The cache folder of a recipe's binaries. Its name changes with every input of the build. */
export const builtFolder = (recipe: Recipe, env: NodeJS.ProcessEnv): string => {
  const { text, version } = readGoMod(recipe);
  const sums = readFileSync(join(moduleFolder(recipe), 'go.sum'), 'utf8');
  const commands = recipe.binaries.map((binary) =>
    [binary.name, ...buildArguments(recipe, binary.package, version, '')].join(' '),
  );
  const { edits = [], extraFolders = {} } = recipe;
  const changes =
    edits.length + Object.keys(extraFolders).length > 0 ? [JSON.stringify({ edits, carries: extraFolders })] : [];
  const key = cacheKey([process.platform, process.arch, text, sums, ...commands, ...changes]);
  return join(cacheFolder(env), 'kubernetes', `${recipe.module}-${version}-${key}`);
};

const buildArguments = (recipe: Recipe, goPackage: string, version: string, output: string): string[] => {
  const settings = Object.entries(recipe.variables(version)).map(([variable, value]) => `-X ${variable}=${value}`);
  return [
    'build',
    '-mod=readonly',
    '-buildvcs=false',
    '-trimpath',
    '-ldflags',
    settings.join(' '),
    '-o',
    output,
    goPackage,
  ];
};

const build = async (
  recipe: Recipe,
  output: string,
  env: NodeJS.ProcessEnv,
  log: (line: string) => void,
): Promise<void> => {
  const { version } = readGoMod(recipe);
  const run = { cwd: moduleFolder(recipe), env: { ...env, CGO_ENABLED: '0', GOWORK: 'off' } };
  await copyExtraFolders(recipe, output, run);
  const workFolder = mkdtempSync(join(tmpdir(), 'tartan-build-'));
  try {
    const edits = await prepareEditedSources(recipe, workFolder, run);
    for (const binary of recipe.binaries) {
      log(
        `building ${binary.name} ${version} with Go (only the first time; minutes if Go has to fetch and compile its sources) …`,
      );
      const started = systemClock.monotonic();
      const [verb = 'build', ...rest] = buildArguments(recipe, binary.package, version, join(output, binary.name));
      await go([verb, ...edits, ...rest], run);
      log(`built ${binary.name} ${version} in ${Math.round((systemClock.monotonic() - started) / 1000)} s`);
    }
  } finally {
    rmSync(workFolder, { recursive: true, force: true });
  }
};
