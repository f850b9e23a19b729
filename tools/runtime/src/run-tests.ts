import { globSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { pathToFileURL } from 'node:url';
import { parseTestArguments } from './run-tests/arguments.ts';
import { type Batch, createBatches } from './run-tests/batches.ts';
import { crashText, createProgress, type TestEvent } from './run-tests/progress.ts';
import slowFiles from './run-tests/slow-files.json' with { type: 'json' };

/**
 * `npm test`, and with `--fleet` `npm run test:fleet`: many test files share a process, and a few processes run concurrently. Node's own
 * test runner starts one process per batch and reports all of them together.
 */
const root = process.cwd();
const testArguments = parseTestArguments(process.argv.slice(2));
/** Many tests wait more than they compute. */
const workers = availableParallelism() + 2;

/**
 * Seconds of slow test files. Used only to balance batches: a file that is not listed counts as short. `npm test -- --slowest` shows
 * the current values.
 */
const slow = new Map(Object.entries(slowFiles));

const filesOf = (pattern: string): readonly string[] =>
  globSync(pattern, { cwd: root, exclude: (path) => path.split('/').at(-1) === 'node_modules' });

/** One module per batch, since Node's test runner runs only modules. */
const modulesFor = async (batches: readonly Batch[], folder: string): Promise<ReadonlyMap<string, Batch>> => {
  const program = pathToFileURL(join(import.meta.dirname, 'run-tests/run-batch.ts')).href;
  const modules = new Map<string, Batch>();
  for (const [index, batch] of batches.entries()) {
    const path = join(folder, `batch-${index + 1}.mjs`);
    const work = { files: batch.files.map((file) => resolve(root, file)), options: testArguments.options };
    const text = `import { runBatch } from ${JSON.stringify(program)};
await runBatch(import.meta.filename, ${JSON.stringify(work)});
`;
    await writeFile(path, text);
    modules.set(path, batch);
  }
  return modules;
};

const runAll = async (files: readonly string[], folder: string): Promise<boolean> => {
  const modules = await modulesFor(createBatches(files, slow, workers, testArguments.shuffle), folder);
  const progress = createProgress(modules, root);
  const interrupted = new AbortController();
  const interrupt = (): void => interrupted.abort();
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  let failures = 0;
  const events = run({ files: [...modules.keys()], concurrency: workers, cwd: root, signal: interrupted.signal });
  events.on('test:fail', () => (failures += 1));
  const watched = events.compose(async function* (testEvents: AsyncIterable<TestEvent>) {
    for await (const event of testEvents) {
      const line = progress.onEvent(event);
      if (line !== undefined) process.stderr.write(`${line}\n`);
      yield event;
    }
  });
  for await (const text of watched.compose(new spec())) process.stdout.write(String(text));
  if (interrupted.signal.aborted) return false;
  const crashed = progress.crashed();
  for (const batch of crashed) process.stdout.write(`\n${crashText(batch)}`);
  if (testArguments.slowest)
    for (const [file, seconds] of progress.slowest(40)) process.stdout.write(`${seconds.toFixed(1)} s  ${file}\n`);
  return failures + crashed.length === 0;
};

const missing = testArguments.patterns.filter((pattern) => filesOf(pattern).length === 0);
const files = [...new Set(testArguments.patterns.flatMap(filesOf))];
if (missing.length > 0) {
  process.stderr.write(`No test file matches ${missing.join(', ')}.\n`);
  process.exitCode = 1;
} else {
  const folder = await mkdtemp(join(tmpdir(), 'tartan-tests-'));
  try {
    process.exitCode = (await runAll(files, folder)) ? 0 : 1;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
