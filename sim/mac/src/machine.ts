import { isAbsolute, join } from 'node:path';
import type { Clock } from '@tartan/kube/clock';
import type { Faults } from './faults.ts';
import type { Owners } from './userland/owners.ts';

/**
 * The internals of a simulated Mac, shared by its parts. A folder is the root of its disk; a real `/bin/sh` runs commands in it; the parts
 * simulate what macOS does beyond files (launchd, loginwindow, pf, AMFI).
 */
export interface Machine {
  /** The folder for `/`. */
  readonly root: string;
  /** The real path of a path on the Mac. */
  path(pathOnMac: string): string;
  readonly clock: Clock;
  /** How long a wait of a real Mac takes here, in milliseconds: `pace(10_000)` is the throttling of launchd. */
  pace(milliseconds: number): number;
  readonly user: MacUser;
  readonly faults: Faults;
  /**
   * Events for tests: commands that ran, jobs that were registered, started or restarted, rules that were loaded, files that were
   * rewritten.
   */
  readonly journal: Journal;
  /** Of this boot, in milliseconds since the epoch: whole seconds, and later with every boot. */
  bootTime(): number;
  /** The owner of a real path, as the Mac sees it: all files really belong to the user of the simulator. */
  ownerOf(path: string): { readonly user: string; readonly group: string };
  /** The environment of every process on this Mac: TARTAN_ROOT, PATH, HOME, and the marker for root or the user. */
  environment(who: 'root' | 'user'): Record<string, string>;
}

export interface MacUser {
  readonly name: string;
  readonly uid: number;
  /** The actual one; callers may use a wrong one. */
  readonly password: string;
}

export interface Journal {
  /** `record('launchd.bootstrap', 'dev.tuist.tart-kubelet')`. */
  record(what: string, detail?: string): void;
  readonly entries: readonly { readonly what: string; readonly detail: string }[];
}

/** One call of a macOS tool by a process on the Mac. */
export interface ToolCall {
  readonly name: string;
  readonly args: readonly string[];
  /** A path on the Mac, or a real path, as the process has it. */
  readonly cwd: string;
  readonly asRoot: boolean;
  /** Its standard input, for the tools that read it. */
  readonly stdin: Buffer;
}

export interface ToolResult {
  readonly code: number;
  readonly stdout?: string;
  readonly stderr?: string;
}

/** Simulates one tool. Behaviour, exit codes and texts as on macOS; comments name the source. */
export type Tool = (call: ToolCall) => ToolResult | Promise<ToolResult>;

/** A part of the Mac: its tools, and its behaviour at shutdown and boot. */
export interface Subsystem {
  readonly tools: Readonly<Record<string, Tool>>;
  /** The Mac has started: files exist, no process runs. */
  boot(): Promise<void>;
  /** Power off: every process of this part is gone when it resolves. */
  shutdown(): Promise<void>;
}

/** The folders of macOS tools. sshd sets this PATH: no /usr/local/bin. */
const sshdPath = ['/usr/bin', '/bin', '/usr/sbin', '/sbin'];

interface MachineOptions {
  readonly root: string;
  readonly clock: Clock;
  readonly pace: number;
  readonly user: MacUser;
  readonly faults: Faults;
  readonly owners: Owners;
  readonly environment?: Readonly<Record<string, string>> | undefined;
  bootTime(): number;
}

export const createMachine = (parts: MachineOptions): Machine => {
  const { root, clock, pace, user, faults, owners, bootTime } = parts;
  const path = (pathOnMac: string): string => join(root, pathOnMac);
  return {
    root,
    path,
    clock,
    pace: (milliseconds) => milliseconds * pace,
    user,
    faults,
    journal: createJournal(),
    bootTime,
    ownerOf: owners.ownerOf,
    environment: (who) => {
      const name = who === 'root' ? 'root' : user.name;
      return {
        ...parts.environment,
        TARTAN_ROOT: root,
        // All processes really have one user. `id`, `sudo` and the tools use this variable instead.
        TARTAN_SIM_UID: who === 'root' ? '0' : String(user.uid),
        // Long-running processes check it, and end if the simulator was killed.
        TARTAN_SIM_PID: String(process.pid),
        PATH: sshdPath.map(path).join(':'),
        HOME: path(who === 'root' ? '/var/root' : `/Users/${user.name}`),
        USER: name,
        LOGNAME: name,
        SHELL: '/bin/sh',
        // mktemp uses it; otherwise it would leave this Mac's disk.
        TMPDIR: path(`/private/var/folders/zz/${name}/T`),
      };
    },
  };
};

const createJournal = (): Journal => {
  const entries: { what: string; detail: string }[] = [];
  return { entries, record: (what, detail = '') => entries.push({ what, detail }) };
};

/** The real path of a path from a process on the Mac: scripts already use `$TARTAN_ROOT/…`, property lists do not. */
export const realPath = (machine: Pick<Machine, 'root' | 'path'>, path: string, cwd = '/'): string => {
  const absolute = isAbsolute(path) ? path : join(cwd, path);
  const isBelowRoot = absolute === machine.root || absolute.startsWith(`${machine.root}/`);
  return isBelowRoot ? absolute : machine.path(absolute);
};

/** The path of a file on the Mac. */
export const macPath = (machine: Pick<Machine, 'root'>, path: string): string =>
  path.startsWith(`${machine.root}/`) ? path.slice(machine.root.length) : path;
