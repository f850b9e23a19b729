import { globSync, mkdtempSync, realpathSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { mutate, type Score } from './mutate.ts';

/**
 * `npm run test:mutation -- [--json] [--depth N] PATH…`: runs the tests of a package against mutants of a file. In a folder it takes the
 * files that hold policy. Fails when the tests kill less than 90 % of the mutants.
 */
const lowest = 0.9;
const policy = /^(decide|classify|verdict|suitability|plan|gate|lock|owner).*\.ts$/;

const filesIn = (path: string): readonly string[] => {
  if (statSync(path).isFile()) return [path];
  return globSync('**/*.ts', { cwd: path, exclude: ['**/node_modules', '**/dist', '**/testing', '**/suite'] })
    .filter((file) => policy.test(basename(file)) && !file.endsWith('.test.ts'))
    .map((file) => join(path, file))
    .sort();
};

const percent = (killed: number, mutants: number): string =>
  mutants === 0 ? '-' : `${((100 * killed) / mutants).toFixed(1)} %`;

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();

const survivorsOf = ({ file, survivors }: Score): string =>
  survivors
    .map(
      ({ line, original, mutated }) => `${relative('.', file)}:${line}  ${oneLine(original)} → ${oneLine(mutated)}\n`,
    )
    .join('');

const tableOf = (scores: readonly Score[]): string => {
  const rows = scores.map(({ file, mutants, timedOut, survivors }) => {
    const killed = mutants - survivors.length;
    const cells = [relative('.', file), mutants, killed, timedOut.length, survivors.length, percent(killed, mutants)];
    return `| ${cells.join(' | ')} |\n`;
  });
  return `\n| file | mutants | killed | of these timed out | survived | score |\n|---|---|---|---|---|---|\n${rows.join('')}`;
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { json: { type: 'boolean' }, depth: { type: 'string', default: 'Infinity' } },
});
const files = [...new Set(positionals.flatMap((path) => filesIn(resolve(path))))];
if (files.length === 0) {
  process.stderr.write('Usage: npm run test:mutation -- [--json] [--depth N] PATH…\n');
  process.exit(2);
}
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'tartan-mutation-')));
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    process.stderr.write(`Stopped by ${signal}.\n`);
    process.exit(130);
  });
process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));

const onTested = (file: string, tested: number, of: number): void => {
  if (tested % 10 === 0 || tested === of) process.stderr.write(`${tested}/${of} ${relative('.', file)}\n`);
};
const scores: Score[] = [];
for (const file of files) {
  const score = await mutate(file, { folder, jobs: 2, depth: Number(values.depth), onTested });
  scores.push(score);
  if (values.json !== true) process.stdout.write(survivorsOf(score));
}
process.stdout.write(values.json === true ? `${JSON.stringify(scores)}\n` : tableOf(scores));
const mutants = scores.reduce((sum, score) => sum + score.mutants, 0);
const survived = scores.reduce((sum, score) => sum + score.survivors.length, 0);
process.exitCode = mutants - survived >= lowest * mutants ? 0 : 1;
