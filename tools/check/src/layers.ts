import { readFileSync } from 'node:fs';
import { globSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { importsOf, layerOf, mayImport, workspaceOf } from './layer-rule.ts';

/** Reports imports that violate the layers, in all source files. */

const root = join(dirname(fileURLToPath(import.meta.url)), '../../..');
const files = globSync('{packages,sim,tools,test,bench}/**/*.{ts,cjs,mjs}', {
  cwd: root,
  exclude: (name) => name === 'node_modules' || name === 'dist',
});

/** Tests and their helpers may import simulators. */
const isTest = (file: string): boolean => file.endsWith('.test.ts') || file.includes('/testing/');

const errors = files.flatMap((file) =>
  importsOf(readFileSync(join(root, file), 'utf8')).flatMap((specifier) => {
    const target = specifier.startsWith('.')
      ? relative(root, join(root, dirname(file), specifier))
      : (workspaceOf(specifier) ?? '');
    const from = isTest(file) ? 'test' : layerOf(file);
    const to = layerOf(target);
    if (!from || !to || from === to || to === layerOf(file)) return [];
    if (specifier.startsWith('.') && !file.startsWith('test/') && !file.startsWith('bench/')) {
      return [`${file}: imports ${specifier}: reach another workspace by its package name, not by a path`];
    }
    return mayImport(from, to) ? [] : [`${file}: imports ${specifier}: ${from} must not know ${to}`];
  }),
);

for (const error of errors) process.stdout.write(`${error}\n`);
process.exitCode = errors.length === 0 ? 0 : 1;
