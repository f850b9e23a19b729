import type { ChildProcess } from 'node:child_process';
import type { Clock } from '@tartan/kube/clock';

/** Sends a signal to a process and to all it has started. Each call of tart leads a group of its own. */
export const signalGroup = (child: ChildProcess, signal: NodeJS.Signals): void => {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // Nobody is left in it.
  }
};

/** Asks a group to end, and ends it after `graceMs`. The returned function takes the second part back. */
export const endGroup = (child: ChildProcess, clock: Clock, graceMs: number): (() => void) => {
  signalGroup(child, 'SIGTERM');
  return clock.after(graceMs, () => signalGroup(child, 'SIGKILL'));
};
