import { spawn } from 'node:child_process';
import { join } from 'node:path';

/** Batches load much the same modules, and so do the programs that tests start: each is compiled once. */
const compiled = join(import.meta.dirname, '../../../../node_modules/.cache/compiled-for-tests');

/** How long tests that were told to stop may take to clean up. */
const graceMs = 1000;
/** Nobody tells a process that its parent was killed. */
const orphanMs = 1000;

/**
 * Runs a Node in a process group of its own and becomes what became of it. Whatever its tests have started goes with it: when it ends,
 * when this process is told to stop, and when whoever started this one is gone.
 */
export const runInOwnGroup = (args: readonly string[]): void => {
  const child = spawn(process.execPath, args, {
    stdio: 'inherit',
    detached: true,
    env: { NODE_COMPILE_CACHE: compiled, ...process.env },
  });
  const parent = process.ppid;
  const tell = (signal: NodeJS.Signals): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, signal);
    } catch {
      // There is nobody left in that group.
    }
  };
  const stop = (): void => {
    tell('SIGTERM');
    setTimeout(tell, graceMs, 'SIGKILL').unref();
  };
  process.on('SIGINT', stop).on('SIGTERM', stop);
  const watch = setInterval(() => process.ppid !== parent && stop(), orphanMs);
  child.once('error', (error) => {
    clearInterval(watch);
    throw error;
  });
  child.once('exit', (code) => {
    clearInterval(watch);
    tell('SIGKILL');
    process.exitCode = code ?? 1;
  });
};
