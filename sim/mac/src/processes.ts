import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';

/** The processes that sessions start on one Mac, each session in a process group of its own, so that nothing outlives the Mac. */
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

/** A test run that ends without stopping its Macs must not leave their processes behind. */
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
      // sshd hands a command to the user's login shell; here that is always sh.
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

/** Groups of jobs that run now, of all Macs in this process. */
const jobGroups = new Set<number>();

/** Ends what is in a process group; a process that made itself a session is not in it, and lives on. */
export const killGroup = (group: number): void => {
  try {
    process.kill(-group, 'SIGKILL');
  } catch {
    // Nobody is left in it.
  }
};

const killJobGroups = (): void => {
  for (const group of jobGroups) killGroup(group);
};

/** A run of tests that ends without stopping its Macs leaves no job behind. The returned function takes that back. */
export const killGroupAtExit = (group: number): (() => void) => {
  jobGroups.add(group);
  if (!process.listeners('exit').includes(killJobGroups)) process.on('exit', killJobGroups);
  return () => jobGroups.delete(group);
};

/** Processes of a Mac, known by the root folder in their environment: also those that made a session of their own. */

const pidsFromProc = (mark: string): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(mark);
      } catch {
        // Gone meanwhile, or somebody else's.
        return false;
      }
    })
    .map(Number);

/** Without /proc, as on macOS, `ps` shows the environment of one's own processes behind their command. */
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

/** Power off: ends whatever jobs left behind, until nobody is found. */
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

/** Gives a command its input and waits for all that it says. */
export const collectOutput = async (
  child: ChildProcessWithoutNullStreams,
  stdin: string | Buffer,
): Promise<CommandResult> => {
  const ended = new Promise<{ code: number | null; signal: string | null }>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
  // Whoever does not read its input is free not to.
  child.stdin.on('error', () => {});
  child.stdin.end(stdin);
  const [{ code, signal }, stdout, stderr] = await Promise.all([ended, buffer(child.stdout), buffer(child.stderr)]);
  return { code, signal, stdout: stdout.toString(), stderr: stderr.toString() };
};
