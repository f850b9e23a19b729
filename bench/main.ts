import { existsSync, globSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type Benchmark, judge } from './figure.ts';
import type { Size } from './size.ts';

/** `npm run bench -- NAME`: runs `bench/NAME.bench.ts` and ends with one line of JSON. */

const folder = dirname(fileURLToPath(import.meta.url));
const names = globSync('*.bench.ts', { cwd: folder })
  .map((file) => basename(file, '.bench.ts'))
  .sort();
const [name] = process.argv.slice(2);
const file = join(folder, `${name}.bench.ts`);

if (name === undefined || name.startsWith('-') || !existsSync(file)) {
  process.stderr.write(
    `usage: npm run bench -- NAME\n\nRuns one benchmark. Each measures a peer in the same run and compares. There are:\n${names.map((entry) => `  ${entry}\n`).join('')}`,
  );
  process.exit(name === '--help' ? 0 : 2);
}

const { run, size } = (await import(pathToFileURL(file).href)) as { run: Benchmark; size?: Size };
const figures = (await run((line) => process.stdout.write(`${line}\n`))).map(judge);
for (const { what, value, unit, goal, met } of figures) {
  process.stdout.write(`${met ? 'met   ' : 'MISSED'}  ${what}: ${value} ${unit} (goal ${goal})\n`);
}
process.stdout.write(`${JSON.stringify({ bench: name, ...(size && { size }), figures })}\n`);
process.exit(figures.every(({ met }) => met) ? 0 : 1);
