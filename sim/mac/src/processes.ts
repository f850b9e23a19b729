import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';

/** The processes that sessions start on one Mac, each session in a process group of its own, so that nothing outlives the Mac. */
export interface Processes {
  start(command: string, environment: Readonly<Record<string, string>>, cwd: string): ChildProcessWithoutNullStreams;
  /** Power off. Resolves when every session's shell is reaped. */
  killAll(): Promise<void>;
}

const groupsOfThisProcess = new Set<number>();

const killGroup = (group: number): boolean => {
  try {
    process.kill(-group, 'SIGKILL');
    return true;
  } catch {
    return false;
  }
};

const isAlive = (group: number): boolean => {
  try {
    process.kill(-group, 0);
    return true;
  } catch {
    return false;
  }
};

/** A test run that ends without stopping its Macs must not leave their processes behind. */
const killGroupsAtExit = (): void => {
  for (const group of groupsOfThisProcess) killGroup(group);
};

export const createProcesses = (): Processes => {
  const groups = new Set<number>();
  const running = new Set<Promise<void>>();

  const forgetEndedGroups = (): void => {
    for (const group of groups) {
      if (isAlive(group)) continue;
      groups.delete(group);
      groupsOfThisProcess.delete(group);
    }
  };

  return {
    start: (command, environment, cwd) => {
      forgetEndedGroups();
      // sshd hands a command to the user's login shell; here that is always sh.
      const shell = spawn('/bin/sh', ['-c', command], { cwd, env: environment, detached: true, stdio: 'pipe' });
      if (shell.pid !== undefined) {
        groups.add(shell.pid);
        groupsOfThisProcess.add(shell.pid);
        if (!process.listeners('exit').includes(killGroupsAtExit)) process.on('exit', killGroupsAtExit);
      }
      const gone = new Promise<void>((resolve) => {
        shell.once('exit', () => resolve());
        shell.once('error', () => resolve());
      }).then(() => void running.delete(gone));
      running.add(gone);
      return shell;
    },
    killAll: async () => {
      for (const group of groups) {
        killGroup(group);
        groupsOfThisProcess.delete(group);
      }
      groups.clear();
      await Promise.all(running);
    },
  };
};
