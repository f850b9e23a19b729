import type { RunOptions } from './arguments.ts';
import type { VmDetails, VmEntry } from './decode.ts';
import type { ExecOptions, ExecSession } from './exec.ts';
import type { PullProgress } from './pull-progress.ts';
import type { RunningVm } from './run.ts';

export interface CallControl {
  /** Ends the call; it may have done its work. */
  readonly signal?: AbortSignal | undefined;
}

/** For one registry, handed over by environment: never in arguments, a keychain or a file. */
export interface RegistryCredentials {
  readonly host: string;
  readonly username: string;
  readonly password: string;
}

export interface PullOptions extends CallControl {
  readonly credentials?: RegistryCredentials | undefined;
  readonly onProgress?: (progress: PullProgress) => void;
}

export interface VmChanges {
  readonly cpu?: number;
  readonly memoryMb?: number;
  /** A new machine identifier: clones share the one of their source (tuist/tuist#11929). While it is stopped. */
  readonly randomSerial?: boolean;
  readonly randomMac?: boolean;
}

/**
 * The `tart` command line. Every method reads or changes what is on this Mac now, and holds nothing back in memory. All reject with a
 * TartError and nothing else, each within its deadline. All can be called side by side; tart itself makes clones wait for each other.
 */
export interface Tart {
  /** `2.32.1`. */
  version(control?: CallControl): Promise<string>;
  /** Local virtual machines and images. Collects tart's folder for downloads as a side effect: the part of a killed pull is gone. */
  list(control?: CallControl): Promise<readonly VmEntry[]>;
  /** A local virtual machine; `undefined` is one that is not there, and an error is never that (INC-49). */
  get(name: string, control?: CallControl): Promise<VmDetails | undefined>;
  /** Fetches an image, also a moved tag of one that is here. As long as it takes, while anything moves. Safe to repeat. */
  pull(image: string, options?: PullOptions): Promise<void>;
  /** From a local name or an image that is here. Rejects with `already exists` if anything has the new name (INC-429). */
  clone(source: string, name: string, options?: PullOptions): Promise<void>;
  /** Safe to repeat. Tart does not look whether it runs: the caller has. */
  set(name: string, changes: VmChanges, control?: CallControl): Promise<void>;
  /**
   * Starts it, and answers as soon as the process is there: whether it boots is for `exited` to tell. The process outlives ours and is
   * found again through the process table.
   */
  run(name: string, options: RunOptions): Promise<RunningVm>;
  /** Cuts its power: SIGINT, and SIGKILL after the time. Safe to repeat, also for one that is not there. */
  stop(name: string, options: CallControl & { readonly timeoutSeconds: number }): Promise<void>;
  /** A virtual machine or an image. One that is not there is deleted (INC-402). Rejects with `running` for one that is on. */
  delete(name: string, control?: CallControl): Promise<void>;
  /** Its address, as far as one was ever given out: a lease outlives its guest, so this says nothing of whether it runs. */
  ip(name: string, control?: CallControl): Promise<string | undefined>;
  /** A command in the guest, by its agent. The caller owns the session and drains its streams. */
  exec(name: string, command: readonly string[], options?: ExecOptions): ExecSession;
}
