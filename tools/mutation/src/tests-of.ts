import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseSync, Visitor } from 'rolldown/utils';

const packageOf = (file: string): string => {
  const folder = dirname(file);
  return existsSync(join(folder, 'package.json')) || folder === file ? folder : packageOf(folder);
};

/** Relative imports of a file. Imports of types do not count. */
const importsOf = (file: string): readonly string[] => {
  const found: string[] = [];
  const add = (specifier: unknown): void => {
    if (typeof specifier === 'string' && specifier.startsWith('.')) found.push(resolve(dirname(file), specifier));
  };
  new Visitor({
    ImportDeclaration: ({ source, importKind }) => void (importKind !== 'type' && add(source.value)),
    ExportNamedDeclaration: ({ source, exportKind }) => void (exportKind !== 'type' && add(source?.value)),
    ExportAllDeclaration: ({ source, exportKind }) => void (exportKind !== 'type' && add(source.value)),
    ImportExpression: ({ source }) => void (source.type === 'Literal' && add(source.value)),
  }).visit(parseSync(file, readFileSync(file, 'utf8')).program);
  return found;
};

/**
 * The unit tests of the same package that import a file, directly or transitively, grouped by import distance, the nearest group first.
 */
export const testsOf = (file: string): readonly (readonly string[])[] => {
  const folder = packageOf(file);
  const importers = new Map<string, string[]>();
  for (const each of globSync('**/*.ts', { cwd: folder, exclude: ['**/node_modules', 'dist'] })) {
    const path = join(folder, each);
    for (const imported of importsOf(path)) importers.set(imported, [...(importers.get(imported) ?? []), path]);
  }
  const groups: string[][] = [];
  const seen = new Set([file]);
  for (let current = [file]; current.length > 0; ) {
    const next = new Set(current.flatMap((each) => importers.get(each) ?? []).filter((each) => !seen.has(each)));
    for (const each of next) seen.add(each);
    current = [...next].sort();
    const tests = current.filter((each) => each.endsWith('.test.ts') && !each.endsWith('.slow.test.ts'));
    if (tests.length > 0) groups.push(tests);
  }
  return groups;
};
