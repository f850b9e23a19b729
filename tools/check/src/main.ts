import { execFile } from 'node:child_process';
import { join } from 'node:path';

/** `npm run check`: all checks that run no tests. Prints one line per check, its notices, and the output of a check that fails. */

const root = join(import.meta.dirname, '../../..');

interface Check {
  name: string;
  fix: string;
  command: string;
  args: string[];
  env?: Record<string, string>;
}

const bin = (name: string): string => join(root, 'node_modules/.bin', name);
const script = (name: string, fix: string, path: string, ...args: string[]): Check => ({
  name,
  fix,
  command: process.execPath,
  args: [join(root, path), ...args],
});

const checks: Check[] = [
  {
    name: 'types and lint',
    fix: 'npx oxlint --type-aware --type-check',
    command: bin('oxlint'),
    args: ['--type-aware', '--type-check', '--deny-warnings', '--format=unix'],
    // Without Go's garbage collection: a fifth less time, and a tenth more memory.
    env: { GOGC: 'off' },
  },
  { name: 'dead code and dependencies', fix: 'npx knip', command: bin('knip'), args: ['--no-progress'] },
  { name: 'format', fix: 'npm run format', command: bin('biome'), args: ['format', '.', '--max-diagnostics=20'] },
  script('layers', 'see tools/check/src/layers.ts', 'tools/check/src/layers.ts'),
  script(
    'suites',
    'declare tests before the first await: make the function of the suite synchronous',
    'tools/check/src/async-suites.ts',
  ),
  script('references', 'see docs/incidents.md', 'tools/check/src/references.ts'),
  script(
    'host scripts',
    'node packages/host/src/testing/lint-scripts.ts, and https://www.shellcheck.net/wiki/ for each code',
    'packages/host/src/testing/lint-scripts.ts',
  ),
  script('lock file', 'npm run lock', 'tools/check/src/lock-file.ts'),
  script('generated files', 'npm run generate', 'tools/generate/src/main.ts', '--check'),
];

/** Prints the result. */
const runCheck = ({ name, fix, command, args, env }: Check): Promise<boolean> =>
  new Promise((resolve) => {
    const started = performance.now();
    execFile(
      command,
      args,
      { cwd: root, maxBuffer: Infinity, env: { ...process.env, ...env } },
      (error, stdout, stderr) => {
        const seconds = ((performance.now() - started) / 1000).toFixed(1);
        const output = `${stdout}${stderr}`.trimEnd().split('\n');
        const lines =
          error === null
            ? [`ok   ${name} (${seconds} s)`, ...output.filter((line) => line.startsWith('notice: '))]
            : [`FAIL ${name} (${seconds} s): fix with ${fix}`, ...output];
        if (error?.code === 'ENOENT') lines.push(`${error.message}: run "npm ci" first`);
        process.stdout.write(`${lines.join('\n')}\n`);
        resolve(error === null);
      },
    );
  });

const results = await Promise.all(checks.map(runCheck));
process.exitCode = results.every(Boolean) ? 0 : 1;
