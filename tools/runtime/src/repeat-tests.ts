import { type ChildProcess, spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { failuresIn, formatFailures, parseRepeatArguments } from './repeat-report.ts';

/** `npm run test:repeat -- N [--load] [TIER or FILE…]`: runs tests N times, each time in another order, and prints what failed how often. */

const usage = `Usage: npm run test:repeat -- N [--load] [fleet | kubernetes | upgrade | FILE…]

Runs a tier, or the named test files, N times. Without a tier or a file: npm test.
  --load   keeps two busy loops per core running beside the tests

Exit codes: 0 nothing failed; 1 something failed; 2 wrong arguments; 130 stopped.
`;

const running = new Set<ChildProcess>();
const start = (command: string, args: readonly string[]): ChildProcess => {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  running.add(child);
  child.once('close', () => running.delete(child));
  return child;
};

const runOnce = (args: readonly string[]): Promise<{ readonly code: number; readonly output: string }> =>
  new Promise((resolve, reject) => {
    const child = start('npm', ['run', '--silent', ...args]);
    const chunks: Buffer[] = [];
    child.stdout?.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.once('error', reject);
    child.once('close', (code) => resolve({ code: code ?? 1, output: Buffer.concat(chunks).toString() }));
  });

const main = async (): Promise<number> => {
  const wanted = parseRepeatArguments(process.argv.slice(2));
  if (wanted === undefined) {
    process.stderr.write(usage);
    return 2;
  }
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      stopping.abort();
      for (const child of running) child.kill('SIGTERM');
    });
  const loops = wanted.load
    ? Array.from({ length: 2 * availableParallelism() }, () => start(process.execPath, ['-e', 'for(;;);']))
    : [];
  const failures = new Map<string, number>();
  let failedRuns = 0;
  try {
    for (let run = 1; run <= wanted.times && !stopping.signal.aborted; run += 1) {
      const began = performance.now();
      const { code, output } = await runOnce(wanted.scriptFor(run));
      if (stopping.signal.aborted) break;
      const named = failuresIn(output);
      const failed = code === 0 || named.length > 0 ? named : [`(no test was named; exit code ${code})`];
      for (const name of failed) failures.set(name, (failures.get(name) ?? 0) + 1);
      if (code !== 0) failedRuns += 1;
      const seconds = ((performance.now() - began) / 1000).toFixed(0);
      process.stdout.write(
        `run ${run} of ${wanted.times}: ${code === 0 ? 'passed' : `${failed.length} failed`}, ${seconds} s\n`,
      );
    }
  } finally {
    for (const loop of loops) loop.kill('SIGKILL');
  }
  process.stdout.write(formatFailures(failures, failedRuns, wanted.times));
  if (stopping.signal.aborted) return 130;
  return failedRuns === 0 ? 0 : 1;
};

process.exitCode = await main();
