import { execFileSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import type { Node } from 'typescript/unstable/ast';
import { API } from 'typescript/unstable/sync';

/** `npm run figures`: prints files, syntax nodes and small files of each area, and folders with many product files. */

const root = join(import.meta.dirname, '../../..');
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

const areas = new Map<string, { files: number; nodes: number; 'of 25 lines or fewer': number }>();
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
  const figures = areas.get(area) ?? { files: 0, nodes: 0, 'of 25 lines or fewer': 0 };
  areas.set(area, figures);
  figures.files += 1;
  figures.nodes += nodesIn(source);
  if (source.text.split('\n').length - 1 <= 25) figures['of 25 lines or fewer'] += 1;
  if (['packages', 'sim', 'tools'].includes(area)) folders.set(dirname(file), (folders.get(dirname(file)) ?? 0) + 1);
}
api.close();

console.table(Object.fromEntries([...areas].sort(([a], [b]) => (a < b ? -1 : 1))));
const full = [...folders].filter(([, count]) => count > mostFiles);
process.stdout.write(`folders with more than ${mostFiles} product files: ${full.length}\n`);
for (const [folder, count] of full) process.stdout.write(`${String(count).padStart(5)}  ${folder}\n`);
