import { execFileSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Node } from 'typescript/unstable/ast';
import { API } from 'typescript/unstable/sync';

/** `npm run figures`: how large the code is. Prints files, syntax nodes and small files of each area, and the folders with the most product files. */

const root = join(dirname(fileURLToPath(import.meta.url)), '../../..');
const smallLines = 25;
const mostFiles = 15;

const areaOf = (file: string): string => {
  const [top = ''] = file.split('/');
  if (!['packages', 'sim', 'tools'].includes(top)) return top;
  if (file.endsWith('.test.ts')) return 'tests';
  return /\/(testing|suite|contract)\//.test(file) ? 'testing and suites' : top;
};

const nodesIn = (node: Node): number => {
  let count = 1;
  node.forEachChild((child) => {
    count += nodesIn(child);
  });
  return count;
};

const areas = new Map<string, { files: number; nodes: number; small: number }>();
const folders = new Map<string, number>();
const api = new API({ cwd: root });
const project = api
  .updateSnapshot({ openProjects: [join(root, 'tsconfig.json')] })
  .getProject(join(root, 'tsconfig.json'));
const tracked = execFileSync('git', ['ls-files', '*.ts'], { cwd: root, encoding: 'utf8' }).trim().split('\n');
for (const file of tracked) {
  const source = project?.program.getSourceFile(join(root, file));
  if (source === undefined) continue;
  const area = areaOf(file);
  const figures = areas.get(area) ?? { files: 0, nodes: 0, small: 0 };
  areas.set(area, figures);
  figures.files += 1;
  figures.nodes += nodesIn(source);
  if (source.text.split('\n').length - 1 <= smallLines) figures.small += 1;
  if (['packages', 'sim', 'tools'].includes(area)) folders.set(dirname(file), (folders.get(dirname(file)) ?? 0) + 1);
}
api.close();

const rows = [...areas].sort(([a], [b]) => (a < b ? -1 : 1));
process.stdout.write(
  `${'area'.padEnd(20)}${'files'.padStart(8)}${'nodes'.padStart(10)}${`≤ ${smallLines} lines`.padStart(14)}\n`,
);
for (const [area, { files, nodes, small }] of rows)
  process.stdout.write(
    `${area.padEnd(20)}${String(files).padStart(8)}${String(nodes).padStart(10)}${String(small).padStart(14)}\n`,
  );
const full = [...folders].filter(([, count]) => count > mostFiles).sort(([, a], [, b]) => b - a);
process.stdout.write(`folders with more than ${mostFiles} product files: ${full.length}\n`);
for (const [folder, count] of full) process.stdout.write(`${String(count).padStart(5)}  ${folder}\n`);
