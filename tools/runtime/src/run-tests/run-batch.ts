import { spawn } from 'node:child_process';
import { join } from 'node:path';

/** Batches load much the same modules, and so do the programs that tests start: each is compiled once. */
const compileCache = join(import.meta.dirname, '../../../../node_modules/.cache/compiled-for-tests');

/** How long tests that were told to stop may take to clean up. */
const graceMs = 1000;
/** Nobody tells a process that its parent was killed. */
const orphanMs = 1000;

/**
 * Runs a Node in a process group of its own and becomes what became of it. Whatever its tests have started goes with it: when it ends,
 * when this process is told to stop, and when whoever started this one is gone.
 */
const runInProcessGroup = (args: readonly string[]): void => {
  const child = spawn(process.execPath, args, {
    stdio: 'inherit',
    detached: true,
    env: { NODE_COMPILE_CACHE: compileCache, ...process.env },
  });
  const parent = process.ppid;
  const signalGroup = (signal: NodeJS.Signals): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, signal);
    } catch {
      // There is nobody left in that group.
    }
  };
  const stop = (): void => {
    signalGroup('SIGTERM');
    setTimeout(signalGroup, graceMs, 'SIGKILL').unref();
  };
  process.on('SIGINT', stop).on('SIGTERM', stop);
  const watch = setInterval(() => process.ppid !== parent && stop(), orphanMs);
  child.once('error', (error) => {
    clearInterval(watch);
    throw error;
  });
  child.once('exit', (code) => {
    clearInterval(watch);
    signalGroup('SIGKILL');
    process.exitCode = code ?? 1;
  });
};

/** Twice what the longest takes on a loaded machine. A test that never ends would hold up CI for good. */
const longestBatchMs = 20 * 60_000;

const insideGroupFlag = '--inside-group';

/**
 * What the module of a batch does. It is run twice: by node's test runner, and from there in a process group of its own. Node's runner
 * knows the batch by the path of its module, and so that is what is run there as well.
 */
export const runBatch = async (
  module: string,
  { files, options }: { readonly files: readonly string[]; readonly options: readonly string[] },
): Promise<void> => {
  if (process.argv[2] !== insideGroupFlag) return runInProcessGroup([...options, module, insideGroupFlag]);
  // Much of what tests start is in groups of its own, and ended by whoever started it on its way out.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  setTimeout(() => process.exit(1), longestBatchMs).unref();
  // Only here: who loads node:test tells of tests.
  const { loadFiles } = await import('./load-files.ts');
  await loadFiles(files);
};
