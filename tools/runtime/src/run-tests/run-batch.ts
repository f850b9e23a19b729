import asyncHooks from 'node:async_hooks';
import { spawn } from 'node:child_process';
import { join } from 'node:path';

/** Batches, and the programs that tests start, load mostly the same modules: each is compiled once. */
const compileCache = join(import.meta.dirname, '../../../../node_modules/.cache/compiled-for-tests');

/** The time that tests have to clean up after SIGTERM. */
const graceMs = 1000;
/** A process gets no signal when its parent is killed, so it polls. */
const orphanMs = 1000;

/**
 * Runs a Node in its own process group and exits as it does. Kills everything that its tests have started: when it ends, when this process
 * gets a signal, and when the parent of this process is gone.
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
      // The group is empty.
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

/** Twice the duration of the longest batch on a loaded machine. A test that never ends would block CI. */
const longestBatchMs = 20 * 60_000;

/**
 * Stops Node's test runner from tracking every promise. It does so only to name the test that an uncaught error belongs to, and that takes a
 * third of the CPU time of many tests. Uncaught errors still fail the run, and are printed with their stack.
 */
const disablePromiseTracking = (): void => {
  const { createHook } = asyncHooks;
  asyncHooks.createHook = (callbacks) => createHook({ ...callbacks, trackPromises: false });
  const fail = (error: unknown): void => {
    console.error(error);
    process.exitCode = 1;
  };
  process.on('uncaughtException', fail).on('unhandledRejection', fail);
};

const insideGroupFlag = '--inside-group';

/**
 * The body of a batch's module. It runs twice: in Node's test runner, and from there in its own process group. Node's runner identifies the
 * batch by the path of its module, so the same module runs there too.
 */
export const runBatch = async (
  module: string,
  { files, options }: { readonly files: readonly string[]; readonly options: readonly string[] },
): Promise<void> => {
  if (process.argv[2] !== insideGroupFlag) return runInProcessGroup([...options, module, insideGroupFlag]);
  // Many processes that tests start have their own groups; their starter ends them on exit.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  setTimeout(() => process.exit(1), longestBatchMs).unref();
  disablePromiseTracking();
  // Only here: a process that loads node:test reports tests.
  const { loadFiles } = await import('./load-files.ts');
  await loadFiles(files);
};
