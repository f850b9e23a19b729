import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';

/** The processes of the sessions on one Mac, each session in its own process group, so that none outlives the Mac. */
interface Processes {
  start(command: string, environment: Readonly<Record<string, string>>, cwd: string): ChildProcessWithoutNullStreams;
  /** Power off. Resolves when every session's shell is reaped. */
  killAll(): Promise<void>;
}

const sessionGroups = new Set<number>();

const killProcessGroup = (group: number): boolean => {
  try {
    process.kill(-group, 'SIGKILL');
    return true;
  } catch {
    return false;
  }
};

const isGroupAlive = (group: number): boolean => {
  try {
    process.kill(-group, 0);
    return true;
  } catch {
    return false;
  }
};

/** For a test run that ends without stopping its Macs. */
const killSessionGroups = (): void => {
  for (const group of sessionGroups) killProcessGroup(group);
};

export const createProcesses = (): Processes => {
  const groups = new Set<number>();
  const running = new Set<Promise<void>>();

  const forgetEndedGroups = (): void => {
    for (const group of groups) {
      if (isGroupAlive(group)) continue;
      groups.delete(group);
      sessionGroups.delete(group);
    }
  };

  return {
    start: (command, environment, cwd) => {
      forgetEndedGroups();
      // sshd passes a command to the user's login shell; here that is always sh.
      const shell = spawn('/bin/sh', ['-c', command], { cwd, env: environment, detached: true, stdio: 'pipe' });
      if (shell.pid !== undefined) {
        groups.add(shell.pid);
        sessionGroups.add(shell.pid);
        if (!process.listeners('exit').includes(killSessionGroups)) process.on('exit', killSessionGroups);
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
        killProcessGroup(group);
        sessionGroups.delete(group);
      }
      groups.clear();
      await Promise.all(running);
    },
  };
};

/** Process groups of running jobs, of all Macs in this process. */
const jobGroups = new Set<number>();

/** Kills a process group; a process with its own session is not in it, and survives. */
export const killGroup = (group: number): void => {
  try {
    process.kill(-group, 'SIGKILL');
  } catch {
    // The group is empty.
  }
};

const killJobGroups = (): void => {
  for (const group of jobGroups) killGroup(group);
};

/** Kills the group when this process exits, for test runs that do not stop their Macs. Returns a function to undo that. */
export const killGroupAtExit = (group: number): (() => void) => {
  jobGroups.add(group);
  if (!process.listeners('exit').includes(killJobGroups)) process.on('exit', killJobGroups);
  return () => jobGroups.delete(group);
};

/** Whether a process is just replaced by execve(2): it has memory, but no environment yet. See proc_pid_stat(5). */
const hasEnvironmentSoon = (pid: number): boolean => {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  // The name may contain anything. After it comes the third field.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [memory, start, end] = [fields[23 - 3], fields[50 - 3], fields[51 - 3]];
  return memory !== '0' && (end === '0' || end !== start);
};

/** From /proc. Empty for a process that has ended, and for one of another user. */
export const environmentOf = (pid: number): readonly string[] => {
  try {
    for (;;) {
      const environment = readFileSync(`/proc/${pid}/environ`, 'latin1');
      if (environment !== '' || !hasEnvironmentSoon(pid)) return environment.split('\0').slice(0, -1);
    }
  } catch {
    return [];
  }
};

/** Finds the processes of a Mac by the root folder in their environment: also those with their own session. */

const pidsFromProc = (mark: string): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => environmentOf(pid).includes(mark));

/** Without /proc, as on macOS: `ps` shows the environment of the user's own processes after their command. */
const pidsFromPs = (mark: string): number[] => {
  try {
    const lines = execFileSync('ps', ['-axEww', '-o', 'pid=,command='], {
      encoding: 'utf8',
      maxBuffer: 64 * 2 ** 20,
    }).split('\n');
    return lines.filter((line) => `${line} `.includes(` ${mark} `)).map((line) => Number.parseInt(line, 10));
  } catch {
    return [];
  }
};

const processesOf = (root: string): number[] => {
  const mark = `TARTAN_ROOT=${root}`;
  const found = existsSync('/proc/self/environ') ? pidsFromProc(mark) : pidsFromPs(mark);
  return found.filter((pid) => pid !== process.pid);
};

const rounds = 100;

/** Power off: kills what jobs left behind, until no process is found. */
export const killLeftoverProcesses = async (root: string): Promise<void> => {
  for (let round = 0; round < rounds; round += 1) {
    const left = processesOf(root);
    if (left.length === 0) return;
    for (const pid of left) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // Gone meanwhile.
      }
    }
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
};

interface CommandResult {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Sends a command its input and collects its output. */
export const collectOutput = async (
  child: ChildProcessWithoutNullStreams,
  stdin: string | Buffer,
): Promise<CommandResult> => {
  const ended = new Promise<{ code: number | null; signal: string | null }>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
  // A command need not read its input.
  child.stdin.on('error', () => {});
  child.stdin.end(stdin);
  const [{ code, signal }, stdout, stderr] = await Promise.all([ended, buffer(child.stdout), buffer(child.stderr)]);
  return { code, signal, stdout: stdout.toString(), stderr: stderr.toString() };
};
