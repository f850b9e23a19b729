import { execFile, spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { failuresIn, formatFailures, parseRepeatArguments } from './repeat-report.ts';

/** `npm run test:repeat -- N [--load] [TIER or FILE…]`: runs tests N times, each time in another order, and prints what failed how often. */

const usage = `Usage: npm run test:repeat -- N [--load] [fleet | kubernetes | upgrade | FILE…]

Runs a tier, or the named test files, N times. Without a tier or a file: npm test.
  --load   keeps two busy loops per core running beside the tests

Exit codes: 0 nothing failed; 1 something failed; 2 wrong arguments; 130 stopped.
`;

const stopping = new AbortController();
const { signal } = stopping;
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stopping.abort());

const runOnce = (args: readonly string[]): Promise<{ readonly error: Error | null; readonly output: string }> =>
  new Promise((resolve) => {
    const options = { signal, maxBuffer: Infinity, env: { ...process.env, NO_COLOR: '1' } };
    const child = execFile('npm', ['run', '--silent', ...args], options, (error, output) => resolve({ error, output }));
    child.stderr?.pipe(process.stderr);
  });

const main = async (): Promise<number> => {
  const wanted = parseRepeatArguments(process.argv.slice(2));
  if (wanted === undefined) {
    process.stderr.write(usage);
    return 2;
  }
  const loops = wanted.load
    ? Array.from({ length: 2 * availableParallelism() }, () => spawn(process.execPath, ['-e', 'for(;;);']))
    : [];
  const failures = new Map<string, number>();
  let failedRuns = 0;
  for (let run = 1; run <= wanted.times; run += 1) {
    const began = performance.now();
    const { error, output } = await runOnce(wanted.scriptFor(run));
    if (signal.aborted) break;
    const named = failuresIn(output);
    const failed = error === null || named.length > 0 ? named : [`(no test was named: ${error.message})`];
    for (const name of failed) failures.set(name, (failures.get(name) ?? 0) + 1);
    if (error !== null) {
      failedRuns += 1;
      process.stderr.write(output.slice(Math.max(0, output.lastIndexOf('failing tests:'))));
    }
    const result = error === null ? 'passed' : `${failed.length} failed`;
    process.stdout.write(
      `run ${run} of ${wanted.times}: ${result}, ${((performance.now() - began) / 1000).toFixed(0)} s\n`,
    );
  }
  for (const loop of loops) loop.kill('SIGKILL');
  process.stdout.write(formatFailures(failures, failedRuns, wanted.times));
  if (signal.aborted) return 130;
  return failedRuns === 0 ? 0 : 1;
};

process.exitCode = await main();
