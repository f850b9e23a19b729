import { isAbsolute, join } from 'node:path';
import type { Clock } from '@tartan/kube/clock';
import type { Faults } from './faults.ts';
import type { Owners } from './userland/owners.ts';

/**
 * The inside of a simulated Mac, as its parts see each other. A folder plays the root of its disk; a real `/bin/sh` runs commands in
 * it; what macOS does beyond files (launchd, loginwindow, pf, AMFI) is played by the parts.
 */
export interface Machine {
  /** The folder that plays `/`. */
  readonly root: string;
  /** Where a path of the Mac really lies. */
  path(pathOnMac: string): string;
  readonly clock: Clock;
  /** How long a wait of the real Mac lasts here, in milliseconds: `pace(10_000)` is a launchd throttle. */
  pace(milliseconds: number): number;
  readonly user: MacUser;
  readonly faults: Faults;
  /** Everything noteworthy that happened, for tests: what was run, registered, started, restarted, loaded, rewritten. */
  readonly journal: Journal;
  /** Of this boot, in milliseconds since the epoch: whole seconds, and later with every boot. */
  bootTime(): number;
  /** Who owns what lies at a real path, as the Mac sees it: all files really belong to whoever runs the simulator. */
  ownerOf(path: string): { readonly user: string; readonly group: string };
  /** What every process on this Mac gets: TARTAN_ROOT, PATH, HOME, and the mark that makes it root's or the user's. */
  environment(who: 'root' | 'user'): Record<string, string>;
}

export interface MacUser {
  readonly name: string;
  readonly uid: number;
  /** The true one. What others believe it to be is their business. */
  readonly password: string;
}

export interface Journal {
  /** `record('launchd.bootstrap', 'dev.tuist.tart-kubelet')`. */
  record(what: string, detail?: string): void;
  readonly entries: readonly { readonly what: string; readonly detail: string }[];
}

/** One call of a tool of macOS by a process on the Mac. */
export interface ToolCall {
  readonly name: string;
  readonly args: readonly string[];
  /** A path of the Mac, or of the real disk: whatever the process saw. */
  readonly cwd: string;
  readonly asRoot: boolean;
  /** What was on its standard input, for the tools that read it. */
  readonly stdin: Buffer;
}

export interface ToolResult {
  readonly code: number;
  readonly stdout?: string;
  readonly stderr?: string;
}

/** Plays one tool. Semantics, exit codes and texts as macOS has them, the source noted beside each. */
export type Tool = (call: ToolCall) => ToolResult | Promise<ToolResult>;

/** A part of the Mac: the tools it answers for, and what happens to it when the Mac goes down and comes up. */
export interface Subsystem {
  readonly tools: Readonly<Record<string, Tool>>;
  /** The Mac has started: files are there, nothing runs. */
  boot(): Promise<void>;
  /** Power off: every process of this part is gone when it resolves. */
  shutdown(): Promise<void>;
}

/** Where `launchctl`, `sed` and the rest lie on a Mac, and what sshd makes of it: no /usr/local/bin. */
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
        // The real user is the same for all. This is what `id`, `sudo` and the tools go by.
        TARTAN_SIM_UID: who === 'root' ? '0' : String(user.uid),
        // What must not outlive the simulator, if that is killed outright, looks for it by itself.
        TARTAN_SIM_PID: String(process.pid),
        PATH: sshdPath.map(path).join(':'),
        HOME: path(who === 'root' ? '/var/root' : `/Users/${user.name}`),
        USER: name,
        LOGNAME: name,
        SHELL: '/bin/sh',
        // Where mktemp goes; without it, it would leave this Mac's disk.
        TMPDIR: path(`/private/var/folders/zz/${name}/T`),
      };
    },
  };
};

const createJournal = (): Journal => {
  const entries: { what: string; detail: string }[] = [];
  return { entries, record: (what, detail = '') => entries.push({ what, detail }) };
};

/** Where a path lies that a process on the Mac gave: its scripts say `$TARTAN_ROOT/…` themselves, property lists do not. */
export const realPath = (machine: Pick<Machine, 'root' | 'path'>, path: string, cwd = '/'): string => {
  const absolute = isAbsolute(path) ? path : join(cwd, path);
  const isBelowRoot = absolute === machine.root || absolute.startsWith(`${machine.root}/`);
  return isBelowRoot ? absolute : machine.path(absolute);
};

/** The same file as the Mac itself would name it. */
export const macPath = (machine: Pick<Machine, 'root'>, path: string): string =>
  path.startsWith(`${machine.root}/`) ? path.slice(machine.root.length) : path;
