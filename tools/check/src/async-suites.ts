import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { asyncSuites } from './async-suite-rule.ts';

const root = join(import.meta.dirname, '../../..');
const files = globSync('{packages,sim,tools,test}/**/*.ts', {
  cwd: root,
  exclude: (name) => name === 'node_modules' || name === 'dist',
});
const errors = files.flatMap((file) =>
  asyncSuites(readFileSync(join(root, file), 'utf8')).map(
    (line) => `${file}:${line}: the function of a suite is async`,
  ),
);

for (const error of errors) process.stdout.write(`${error}\n`);
process.exitCode = errors.length === 0 ? 0 : 1;
