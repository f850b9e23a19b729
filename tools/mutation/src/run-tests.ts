import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Mutant } from './mutants.ts';

export interface TestRun {
  readonly result: 'passed' | 'failed' | 'timed out';
  readonly tookMs: number;
}

export interface RunOptions {
  /** For temporary files of the tests, and Node's compile cache. */
  readonly folder: string;
  /** `none`: all files share a process, which loads shared modules once. */
  readonly isolation: 'none' | 'process';
  readonly limitMs?: number | undefined;
  readonly mutant?: Mutant & { readonly file: string };
}

const loader = pathToFileURL(join(import.meta.dirname, 'load-mutant.ts')).href;

/** Runs test files until one test fails or the time limit is reached. Kills the processes that they have started. */
export const runTests = (files: readonly string[], options: RunOptions): Promise<TestRun> =>
  new Promise((resolve, reject) => {
    const { folder, isolation, limitMs, mutant } = options;
    const { NODE_TEST_CONTEXT: _, ...environment } = process.env;
    const began = performance.now();
    const child = spawn(
      process.execPath,
      ['--test', `--test-isolation=${isolation}`, '--test-reporter=tap', ...files],
      {
        // Its own process group, which can be killed as one.
        detached: true,
        timeout: limitMs,
        killSignal: 'SIGKILL',
        stdio: ['ignore', 'pipe', 'ignore'],
        env: {
          ...environment,
          TMPDIR: folder,
          NODE_COMPILE_CACHE: join(folder, 'compiled'),
          ...(mutant && {
            NODE_OPTIONS: `--import=${loader}`,
            TARTAN_MUTANT: JSON.stringify({ ...mutant, url: pathToFileURL(mutant.file).href }),
          }),
        },
      },
    );
    const end = (): void => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      } catch {
        // It has exited.
      }
    };
    let failed = false;
    // Before the listener that removes the folder.
    process.prependOnceListener('exit', end);
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      if (!/^ *not ok /m.test(text)) return;
      failed = true;
      end();
    });
    child.on('error', reject);
    child.on('exit', (code) => {
      process.off('exit', end);
      end();
      const ended = code === null ? 'timed out' : code === 0 ? 'passed' : 'failed';
      resolve({ result: failed ? 'failed' : ended, tookMs: performance.now() - began });
    });
  });
