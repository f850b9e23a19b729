import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { incidentErrors, incidentsPage, pageErrors } from './reference-rule.ts';

/** Reports references to things outside of the repository: incident ids without a row in the page, and names of pages. */

const root = join(import.meta.dirname, '../../..');
const files = globSync(
  ['{bench,charts,docs,image,packages,sim,test,tools}/**/*.{ts,cjs,sh,md,json,yaml,tpl}', '*.md'],
  {
    cwd: root,
    exclude: (name) => name === 'node_modules' || name === 'dist',
  },
)
  .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))
  // The tests of these rules have ids and pages that do not exist.
  .filter(({ path }) => !/^tools\/check\/.*\.test\.ts$/.test(path));
const errors = [...incidentErrors(readFileSync(join(root, incidentsPage), 'utf8'), files), ...pageErrors(files)];

for (const error of errors) process.stdout.write(`${error}\n`);
process.exitCode = errors.length === 0 ? 0 : 1;
