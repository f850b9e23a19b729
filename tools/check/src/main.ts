import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** `npm run check`: everything about the code that can be judged without running it. Prints one line per judge, its notices, and all that a judge that objects has to say. */

const root = join(dirname(fileURLToPath(import.meta.url)), '../../..');

interface Check {
  name: string;
  /** For a person who wants to mend what it found. */
  fix: string;
  command: string;
  args: string[];
}

const bin = (name: string): string => join(root, 'node_modules/.bin', name);

const checks: Check[] = [
  { name: 'types', fix: 'npx tsc', command: bin('tsc'), args: ['-p', root] },
  {
    name: 'lint',
    fix: 'npx oxlint --type-aware',
    command: bin('oxlint'),
    args: ['--type-aware', '--deny-warnings', '--format=unix'],
  },
  { name: 'dead code and dependencies', fix: 'npx knip', command: bin('knip'), args: ['--no-progress'] },
  { name: 'format', fix: 'npm run format', command: bin('biome'), args: ['format', '.', '--max-diagnostics=20'] },
  {
    name: 'layers',
    fix: 'see tools/check/src/layers.ts',
    command: process.execPath,
    args: [join(root, 'tools/check/src/layers.ts')],
  },
  {
    name: 'references',
    fix: 'see docs/incidents.md',
    command: process.execPath,
    args: [join(root, 'tools/check/src/references.ts')],
  },
  {
    name: 'host scripts',
    fix: 'node packages/host/src/testing/lint-scripts.ts, and https://www.shellcheck.net/wiki/ for each code',
    command: process.execPath,
    args: [join(root, 'packages/host/src/testing/lint-scripts.ts')],
  },
  {
    name: 'lock file',
    fix: 'npm run lock',
    command: process.execPath,
    args: [join(root, 'tools/check/src/lock-file.ts')],
  },
  {
    name: 'generated files',
    fix: 'npm run generate',
    command: process.execPath,
    args: [join(root, 'tools/generate/src/main.ts'), '--check'],
  },
];

interface CheckResult {
  check: Check;
  passed: boolean;
  output: string;
  seconds: number;
}

const runCheck = (check: Check): Promise<CheckResult> =>
  new Promise((resolve) => {
    const started = performance.now();
    const child = spawn(check.command, check.args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    child.stdout.on('data', (chunk) => (output += chunk));
    child.stderr.on('data', (chunk) => (output += chunk));
    const done = (passed: boolean): void =>
      resolve({ check, passed, output, seconds: (performance.now() - started) / 1000 });
    child.on('error', (error) => {
      output += `${error.message}\nrun "npm ci" first\n`;
      done(false);
    });
    child.on('close', (code) => done(code === 0));
  });

const colour = (code: number, text: string): string =>
  process.stdout.isTTY && !process.env['NO_COLOR'] ? `\u001B[${code}m${text}\u001B[0m` : text;

const report = ({ check, passed, output, seconds }: CheckResult): void => {
  const mark = passed ? colour(32, 'ok  ') : colour(31, 'FAIL');
  process.stdout.write(
    `${mark} ${check.name} (${seconds.toFixed(1)} s)${passed ? '' : ` — mend with: ${check.fix}`}\n`,
  );
  const notices = output.split('\n').filter((line) => line.startsWith('notice: '));
  const said = passed ? notices.join('\n') : output.trimEnd();
  if (said !== '') process.stdout.write(`${said}\n`);
};

const waiting = [...checks];
const results: CheckResult[] = [];
const worker = async (): Promise<void> => {
  for (let judge = waiting.shift(); judge; judge = waiting.shift()) {
    const verdict = await runCheck(judge);
    report(verdict);
    results.push(verdict);
  }
};
await Promise.all(Array.from({ length: Math.min(availableParallelism(), checks.length) }, worker));
process.exitCode = results.every(({ passed }) => passed) ? 0 : 1;
