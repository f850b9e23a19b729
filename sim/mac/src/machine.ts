import type { Clock } from '@tartan/kube/clock';
import type { Faults } from './faults.ts';

/**
 * The inside of a simulated Mac, as its parts see each other. A folder plays the root of its disk; a real `/bin/sh` runs commands in
 * it; what macOS does beyond files (launchd, loginwindow, pf, AMFI) is played by the parts.
 */
export interface Machine {
  /** The folder that plays `/`. */
  readonly root: string;
  /** Where a path of the Mac really lies. */
  path(ofTheMac: string): string;
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

export interface ToolAnswer {
  readonly code: number;
  readonly stdout?: string;
  readonly stderr?: string;
}

/** Plays one tool. Semantics, exit codes and texts as macOS has them, the source noted beside each. */
export type Tool = (call: ToolCall) => ToolAnswer | Promise<ToolAnswer>;

/** A part of the Mac: the tools it answers for, and what happens to it when the Mac goes down and comes up. */
export interface Part {
  readonly tools: Readonly<Record<string, Tool>>;
  /** The Mac has started: files are there, nothing runs. */
  boot(): Promise<void>;
  /** Power off: every process of this part is gone when it resolves. */
  shutdown(): Promise<void>;
}
