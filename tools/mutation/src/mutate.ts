import { readFileSync } from 'node:fs';
import { type Mutant, mutantsOf } from './mutants.ts';
import { type RunOptions, runTests, type TestRun } from './run-tests.ts';
import { testsOf } from './tests-of.ts';

export interface Score {
  readonly file: string;
  readonly mutants: number;
  /** Mutants whose tests ran into the time limit. They count as killed. */
  readonly timedOut: readonly Mutant[];
  readonly survivors: readonly Mutant[];
}

interface MutateOptions {
  /** For temporary files. */
  readonly folder: string;
  /** Mutants that are tested concurrently. */
  readonly jobs: number;
  /** Import distance up to which tests run: 1 for tests that import the file directly. */
  readonly depth?: number;
  /** Time limit with a mutant, from the time without one. */
  readonly limitFor?: (tookMs: number) => number | undefined;
  readonly onTested?: (file: string, tested: number, of: number) => void;
}

interface Group extends Pick<RunOptions, 'isolation' | 'limitMs'> {
  readonly files: readonly string[];
}

/** Kills mutants with endless loops. Generous, so that a busy machine kills no mutant. */
const usualLimit = (tookMs: number): number => 60_000 + Math.ceil(5 * tookMs);

/** Runs the tests without a mutant: they must pass. Most of them can share a process. */
const baseline = async (files: readonly string[], { folder, limitFor = usualLimit }: MutateOptions): Promise<Group> => {
  for (const isolation of ['none', 'process'] as const) {
    const { result, tookMs } = await runTests(files, { folder, isolation });
    if (result === 'passed') return { files, isolation, limitMs: limitFor(tookMs) };
  }
  throw new Error(`These tests fail without a mutant: ${files.join(', ')}`);
};

/** Runs the tests of a file against each of its mutants. */
export const mutate = async (file: string, options: MutateOptions): Promise<Score> => {
  const { folder, jobs, depth, onTested } = options;
  const mutants = mutantsOf(readFileSync(file, 'utf8'));
  const groups: Group[] = [];
  for (const files of testsOf(file).slice(0, depth)) groups.push(await baseline(files, options));

  const resultOf = async (mutant: Mutant): Promise<TestRun['result']> => {
    for (const { files, isolation, limitMs } of groups) {
      const { result } = await runTests(files, { folder, isolation, limitMs, mutant: { ...mutant, file } });
      if (result !== 'passed') return result;
    }
    return 'passed';
  };
  const results = new Map<Mutant, TestRun['result']>();
  const waiting = mutants.values();
  const work = async (): Promise<void> => {
    for (const mutant of waiting) {
      results.set(mutant, await resultOf(mutant));
      onTested?.(file, results.size, mutants.length);
    }
  };
  await Promise.all(Array.from({ length: jobs }, work));
  const those = (result: TestRun['result']) => mutants.filter((mutant) => results.get(mutant) === result);
  return { file, mutants: mutants.length, timedOut: those('timed out'), survivors: those('passed') };
};
